/* SPDX-License-Identifier: BSD-3-Clause */
/* broken_opencl.c: a libOpenCL.so.1 whose first call crashes, or never returns where
 * BROKEN_OPENCL is "hang". Every function of the API does this. */

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((visibility("default"))) int clGetPlatformIDs(void);

static int fall(void)
{
    const char *how = getenv("BROKEN_OPENCL");

    while ((how != NULL) && (strcmp(how, "hang") == 0)) {
        pause();
    }
    signal(SIGSEGV, SIG_DFL); /* the sanitizers' handler would make it an exit */
    return raise(SIGSEGV);
}

int clGetPlatformIDs(void)
{
    return fall();
}

#define ALSO(name) __attribute__((visibility("default"), alias("clGetPlatformIDs"))) int name(void)

/* clang-format off */
ALSO(clBuildProgram); ALSO(clCreateBuffer); ALSO(clCreateCommandQueue);
ALSO(clCreateCommandQueueWithProperties); ALSO(clCreateContext); ALSO(clCreateKernel);
ALSO(clCreateProgramWithSource); ALSO(clCreateSubBuffer); ALSO(clEnqueueBarrierWithWaitList);
ALSO(clEnqueueCopyBuffer); ALSO(clRetainCommandQueue); ALSO(clGetCommandQueueInfo); ALSO(clEnqueueMarker);
ALSO(clEnqueueMarkerWithWaitList);
ALSO(clEnqueueFillBuffer); ALSO(clEnqueueMapBuffer); ALSO(clEnqueueMigrateMemObjects);
ALSO(clEnqueueNDRangeKernel); ALSO(clEnqueueReadBuffer); ALSO(clEnqueueSVMFree);
ALSO(clEnqueueSVMMap); ALSO(clEnqueueSVMMemFill); ALSO(clEnqueueSVMMemcpy);
ALSO(clEnqueueSVMMigrateMem); ALSO(clEnqueueSVMUnmap); ALSO(clEnqueueUnmapMemObject);
ALSO(clEnqueueWriteBuffer); ALSO(clFinish); ALSO(clFlush); ALSO(clGetContextInfo);
ALSO(clGetDeviceIDs); ALSO(clGetDeviceInfo); ALSO(clGetEventInfo);
ALSO(clGetExtensionFunctionAddressForPlatform); ALSO(clGetPlatformInfo);
ALSO(clGetProgramBuildInfo); ALSO(clReleaseCommandQueue); ALSO(clReleaseContext);
ALSO(clReleaseEvent); ALSO(clReleaseKernel); ALSO(clReleaseMemObject); ALSO(clReleaseProgram);
ALSO(clRetainContext); ALSO(clRetainDevice); ALSO(clSVMAlloc); ALSO(clSVMFree);
ALSO(clSetKernelArg); ALSO(clSetKernelArgSVMPointer); ALSO(clSetKernelExecInfo);
ALSO(clSetUserEvent); ALSO(clWaitForEvents);
/* clang-format on */
