/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_HYDRO_HYDRO_HPP
#define MEMSPAN_BENCH_HYDRO_HYDRO_HPP

/* The compressible Euler equations in two dimensions on a periodic square of side 1: finite
 * volumes, MUSCL-Hancock reconstruction, HLLC fluxes, one direction after the other (Toro, chapters
 * 10, 14, 16). The gas begins as two shock tubes back to back, so that mass, momentum and energy
 * stay as they were and the exact solution is known until a wave of one tube has reached one of the
 * other.
 *
 * Tracers swim in the gas and count their visits of each cell: accesses in no order, beside the
 * solver's streams. The initial state is kept and read once more at the end. So the arrays have
 * what placement is about: bandwidth, latency, and neither. */

#include "bench/hydro/storage.hpp"
#include <array>
#include <cstddef>
#include <cstdint>

namespace hydro
{

constexpr double gamma = 1.4;

struct State {
    double density;
    double pressure;
};

/* Velocity across the tubes; the density along them does not depend on it. */
constexpr double drift = 0.5;

constexpr State left  = {1, 1}; /* of each tube's diaphragm */
constexpr State right = {0.125, 0.1};

enum Field { DENSITY, MOMENTUM_X, MOMENTUM_Y, ENERGY, FIELDS };

enum Phase { TIME_STEP, SWEEP_X, SWEEP_Y, TRACERS, PHASES };

class Solver
{
  public:
    /* @p side cells in each direction; the tubes lie @p along 0 (x) or 1 (y). */
    Solver(std::size_t side, int along);

    /* One time step. */
    void step();

    double time() const
    {
        return time_;
    }
    double seconds_of(Phase phase) const
    {
        return seconds_[phase];
    }

    /* Mean absolute difference of the density to the exact solution. */
    double density_error() const;

    /* The largest difference of the velocity across the tubes to the drift. */
    double drift_error() const;

    /* The largest change since the beginning of the total of a field, relative to its largest
     * possible value. */
    double conservation_error() const;

    /* Visits that were counted; @p steps times tracers() when none was lost. */
    std::uint64_t visits() const;
    std::size_t tracers() const
    {
        return tracer_x_.count();
    }

  private:
    using Fields = std::array<storage::Array<double> *, FIELDS>;

    std::size_t cell(std::size_t across, std::size_t along, int direction) const;
    double largest_time_step() const;
    void compute_fluxes(int direction, double ratio);
    void add_fluxes(int direction, double ratio);
    void sweep(int direction, double time_step);
    void move_tracers(double time_step);

    std::size_t side_;
    int along_;
    double time_  = 0;
    bool x_first_ = true;
    std::array<double, PHASES> seconds_{};

    storage::Array<double> density_;
    storage::Array<double> momentum_x_;
    storage::Array<double> momentum_y_;
    storage::Array<double> energy_;
    storage::Array<double> flux_density_;
    storage::Array<double> flux_normal_;
    storage::Array<double> flux_tangential_;
    storage::Array<double> flux_energy_;
    storage::Array<float> tracer_x_;
    storage::Array<float> tracer_y_;
    storage::Array<std::uint32_t> visits_;
    storage::Array<double> initial_; /* field after field */
};

} // namespace hydro

#endif /* MEMSPAN_BENCH_HYDRO_HYDRO_HPP */
