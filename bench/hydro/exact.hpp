/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_HYDRO_EXACT_HPP
#define MEMSPAN_BENCH_HYDRO_EXACT_HPP

/* The exact solution of Sod's shock tube: a diaphragm at 0 between (density, pressure) (1, 1) on
 * the left and (0.125, 0.1) on the right breaks at time 0. */

namespace exact
{

/* The density at @p position_over_time, the coordinate divided by the time. */
double density(double position_over_time);

} // namespace exact

#endif /* MEMSPAN_BENCH_HYDRO_EXACT_HPP */
