# SPDX-License-Identifier: BSD-3-Clause
from spack.package import *


class Memspan(CMakePackage):
    """Allocators over the memory of host and devices: the memory management of OpenMP, OpenSHMEM with
    partitions of symmetric memory, and tools that show the memory of a machine."""

    homepage = "https://memspan.example"
    url = "https://memspan.example/memspan-0.1.0.tar.xz"
    license("BSD-3-Clause")

    version("0.1.0")

    variant("shmem", default=True, description="OpenSHMEM (libmemspan-shmem)")
    variant("bench", default=False, description="memspan-bench")
    variant("python", default=True, description="The modules of Python and Fortran")
    variant("ucx", default=True, when="+shmem", description="OpenSHMEM between hosts by UCX")
    variant("ofi", default=True, when="+shmem", description="OpenSHMEM between hosts by libfabric")
    variant("pmix", default=True, when="+shmem", description="OpenSHMEM started by mpirun, prterun and srun")

    depends_on("c", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    # Opened at run time, and not linked.
    depends_on("hwloc@2.5:2", type=("build", "link", "run"))
    depends_on("jansson@2.10:")
    depends_on("python@3.9:", type=("build", "run"), when="+python")
    depends_on("py-numpy", type="run", when="+python")
    depends_on("ucx@1.11:", when="+ucx")
    depends_on("libfabric@1.11:", when="+ofi")
    depends_on("pmix", when="+pmix")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("MEMSPAN_BUILD_TESTS", False),
            self.define_from_variant("MEMSPAN_BUILD_SHMEM", "shmem"),
            self.define_from_variant("MEMSPAN_BUILD_BENCH", "bench"),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_Python3", self.spec.satisfies("~python")),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_OffloadClang", True),
        ]
