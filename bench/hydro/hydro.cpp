/* SPDX-License-Identifier: BSD-3-Clause */
/* hydro.cpp: the solver. A sweep first writes the fluxes through the lower faces of all cells, then
 * adds their differences to the cells; both pass once over memory, row by row of the sweep. */

#include "bench/hydro/hydro.hpp"
#include "bench/hydro/exact.hpp"
#include <algorithm>
#include <chrono>
#include <cmath>

namespace hydro
{

namespace
{

/* Density, velocity along and across the sweep, pressure. */
struct Primitive {
    double density;
    double normal;
    double tangential;
    double pressure;
};

struct Flux {
    double density;
    double normal;
    double tangential;
    double energy;
};

double seconds()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

Primitive primitive(double density, double normal, double tangential, double energy)
{
    const double kinetic = (normal * normal + tangential * tangential) / (2 * density);

    return {density, normal / density, tangential / density, (gamma - 1) * (energy - kinetic)};
}

double energy_of(const Primitive &w)
{
    return w.pressure / (gamma - 1) +
           w.density * (w.normal * w.normal + w.tangential * w.tangential) / 2;
}

double minmod(double a, double b)
{
    return (a * b <= 0) ? 0 : ((std::abs(a) < std::abs(b)) ? a : b);
}

/* The state of cell @p w, between @p before and @p after, at its upper (@p side 1) or lower (-1)
 * face, half a time step later. @p ratio: time step / cell. */
Primitive at_face(const Primitive &before, const Primitive &w, const Primitive &after, double side,
                  double ratio)
{
    const Primitive s = {minmod(w.density - before.density, after.density - w.density),
                         minmod(w.normal - before.normal, after.normal - w.normal),
                         minmod(w.tangential - before.tangential, after.tangential - w.tangential),
                         minmod(w.pressure - before.pressure, after.pressure - w.pressure)};

    return {
        w.density + (side * s.density - ratio * (w.normal * s.density + w.density * s.normal)) / 2,
        w.normal + (side * s.normal - ratio * (w.normal * s.normal + s.pressure / w.density)) / 2,
        w.tangential + (side - ratio * w.normal) * s.tangential / 2,
        w.pressure +
            (side * s.pressure - ratio * (w.normal * s.pressure + gamma * w.pressure * s.normal)) /
                2};
}

Flux flux_of(const Primitive &w)
{
    const double mass = w.density * w.normal;

    return {mass, mass * w.normal + w.pressure, mass * w.tangential,
            w.normal * (energy_of(w) + w.pressure)};
}

/* The flux beside the contact wave: behind the wave of speed @p speed from @p w. */
Flux flux_behind(const Primitive &w, double speed, double contact)
{
    const Flux f         = flux_of(w);
    const double energy  = energy_of(w);
    const double density = w.density * (speed - w.normal) / (speed - contact);
    const double behind =
        energy / w.density +
        (contact - w.normal) * (contact + w.pressure / (w.density * (speed - w.normal)));

    return {f.density + speed * (density - w.density),
            f.normal + speed * (density * contact - w.density * w.normal),
            f.tangential + speed * (density - w.density) * w.tangential,
            f.energy + speed * (density * behind - energy)};
}

Flux hllc(const Primitive &l, const Primitive &r)
{
    const double sound_l = std::sqrt(gamma * l.pressure / l.density);
    const double sound_r = std::sqrt(gamma * r.pressure / r.density);
    const double slow    = std::min(l.normal - sound_l, r.normal - sound_r);
    const double fast    = std::max(l.normal + sound_l, r.normal + sound_r);
    const double mass_l  = l.density * (slow - l.normal);
    const double mass_r  = r.density * (fast - r.normal);
    const double contact =
        (r.pressure - l.pressure + mass_l * l.normal - mass_r * r.normal) / (mass_l - mass_r);

    if (slow >= 0) {
        return flux_of(l);
    }
    if (fast <= 0) {
        return flux_of(r);
    }
    return (contact >= 0) ? flux_behind(l, slow, contact) : flux_behind(r, fast, contact);
}

/* Tracers begin where a hash of their number puts them: in no order. */
float scattered(std::uint64_t number)
{
    number = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    number = (number ^ (number >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    return static_cast<float>((number >> 40) * 0x1p-24);
}

float wrapped(float position)
{
    position -= std::floor(position);
    return (position < 1) ? position : 0;
}

} // namespace

Solver::Solver(std::size_t side, int along)
    : side_(side), along_(along), density_("density", side * side),
      momentum_x_("momentum_x", side * side), momentum_y_("momentum_y", side * side),
      energy_("energy", side * side), flux_density_("flux_density", side * side),
      flux_normal_("flux_normal", side * side), flux_tangential_("flux_tangential", side * side),
      flux_energy_("flux_energy", side * side), tracer_x_("tracer_x", side * side / 16),
      tracer_y_("tracer_y", side * side / 16), visits_("visits", side * side),
      initial_("initial", FIELDS * side * side)
{
    const std::size_t cells = side * side;

#pragma omp parallel for
    for (std::size_t i = 0; i < cells; i++) {
        const std::size_t at  = (along == 0) ? i % side : i / side;
        const State &state    = (4 * at >= side && 4 * at < 3 * side) ? left : right;
        const double momentum = state.density * drift;

        density_[i] = initial_[DENSITY * cells + i] = state.density;
        momentum_x_[i] = initial_[MOMENTUM_X * cells + i] = (along == 0) ? 0 : momentum;
        momentum_y_[i] = initial_[MOMENTUM_Y * cells + i] = (along == 0) ? momentum : 0;
        energy_[i]                                        = initial_[ENERGY * cells + i] =
            state.pressure / (gamma - 1) + momentum * drift / 2;
        visits_[i]       = 0;
        flux_density_[i] = flux_normal_[i] = flux_tangential_[i] = flux_energy_[i] = 0;
    }
#pragma omp parallel for
    for (std::size_t i = 0; i < tracers(); i++) {
        tracer_x_[i] = scattered(2 * i);
        tracer_y_[i] = scattered(2 * i + 1);
    }
}

/* The cell at @p along the sweep's direction, in the row @p across. */
std::size_t Solver::cell(std::size_t across, std::size_t along, int direction) const
{
    return (direction == 0) ? across * side_ + along : along * side_ + across;
}

double Solver::largest_time_step() const
{
    double fastest = 0;

#pragma omp parallel for reduction(max : fastest)
    for (std::size_t i = 0; i < density_.count(); i++) {
        const Primitive w  = primitive(density_[i], momentum_x_[i], momentum_y_[i], energy_[i]);
        const double speed = std::max(std::abs(w.normal), std::abs(w.tangential));

        fastest = std::max(fastest, speed + std::sqrt(gamma * w.pressure / w.density));
    }
    return 0.4 / (fastest * static_cast<double>(side_));
}

/* Loops run over memory in order, whatever the direction. */
void Solver::compute_fluxes(int direction, double ratio)
{
    const auto &normal     = (direction == 0) ? momentum_x_ : momentum_y_;
    const auto &tangential = (direction == 0) ? momentum_y_ : momentum_x_;

#pragma omp parallel for
    for (std::size_t row = 0; row < side_; row++) {
        for (std::size_t column = 0; column < side_; column++) {
            const std::size_t along  = (direction == 0) ? column : row;
            const std::size_t across = (direction == 0) ? row : column;
            std::array<Primitive, 4> w;

            for (std::size_t i = 0; i < 4; i++) {
                const std::size_t c = cell(across, (along + side_ + i - 2) % side_, direction);
                w[i]                = primitive(density_[c], normal[c], tangential[c], energy_[c]);
            }

            const Flux flux =
                hllc(at_face(w[0], w[1], w[2], 1, ratio), at_face(w[1], w[2], w[3], -1, ratio));
            const std::size_t c = row * side_ + column;

            flux_density_[c]    = flux.density;
            flux_normal_[c]     = flux.normal;
            flux_tangential_[c] = flux.tangential;
            flux_energy_[c]     = flux.energy;
        }
    }
}

void Solver::add_fluxes(int direction, double ratio)
{
    auto &normal     = (direction == 0) ? momentum_x_ : momentum_y_;
    auto &tangential = (direction == 0) ? momentum_y_ : momentum_x_;

#pragma omp parallel for
    for (std::size_t row = 0; row < side_; row++) {
        for (std::size_t column = 0; column < side_; column++) {
            const std::size_t c    = row * side_ + column;
            const std::size_t next = (direction == 0) ? row * side_ + (column + 1) % side_
                                                      : (row + 1) % side_ * side_ + column;

            density_[c] += ratio * (flux_density_[c] - flux_density_[next]);
            normal[c] += ratio * (flux_normal_[c] - flux_normal_[next]);
            tangential[c] += ratio * (flux_tangential_[c] - flux_tangential_[next]);
            energy_[c] += ratio * (flux_energy_[c] - flux_energy_[next]);
        }
    }
}

void Solver::sweep(int direction, double time_step)
{
    const double began = seconds();
    const double ratio = time_step * static_cast<double>(side_);

    compute_fluxes(direction, ratio);
    add_fluxes(direction, ratio);
    seconds_[direction == 0 ? SWEEP_X : SWEEP_Y] += seconds() - began;
}

void Solver::move_tracers(double time_step)
{
    const float step = static_cast<float>(time_step);
    const float side = static_cast<float>(side_);

#pragma omp parallel for
    for (std::size_t i = 0; i < tracers(); i++) {
        const auto x        = static_cast<std::size_t>(tracer_x_[i] * side);
        const auto y        = static_cast<std::size_t>(tracer_y_[i] * side);
        const std::size_t c = std::min(y, side_ - 1) * side_ + std::min(x, side_ - 1);
        const auto density  = static_cast<float>(density_[c]);

        tracer_x_[i] = wrapped(tracer_x_[i] + step * static_cast<float>(momentum_x_[c]) / density);
        tracer_y_[i] = wrapped(tracer_y_[i] + step * static_cast<float>(momentum_y_[c]) / density);
#pragma omp atomic
        visits_[c]++;
    }
}

void Solver::step()
{
    double began           = seconds();
    const double time_step = largest_time_step();

    seconds_[TIME_STEP] += seconds() - began;
    sweep(x_first_ ? 0 : 1, time_step);
    sweep(x_first_ ? 1 : 0, time_step);
    x_first_ = !x_first_; /* in turn: second order in time */
    began    = seconds();
    move_tracers(time_step);
    seconds_[TRACERS] += seconds() - began;
    time_ += time_step;
}

double Solver::density_error() const
{
    double sum = 0;

#pragma omp parallel for reduction(+ : sum)
    for (std::size_t i = 0; i < density_.count(); i++) {
        const std::size_t at    = (along_ == 0) ? i % side_ : i / side_;
        const double position   = (static_cast<double>(at) + 0.5) / static_cast<double>(side_);
        const double from_right = (position < 0.5) ? 0.25 - position : position - 0.75;

        sum += std::abs(density_[i] - exact::density(from_right / time_));
    }
    return sum / static_cast<double>(density_.count());
}

double Solver::drift_error() const
{
    const auto &momentum = (along_ == 0) ? momentum_y_ : momentum_x_;
    double worst         = 0;

#pragma omp parallel for reduction(max : worst)
    for (std::size_t i = 0; i < density_.count(); i++) {
        worst = std::max(worst, std::abs(momentum[i] / density_[i] - drift));
    }
    return worst;
}

double Solver::conservation_error() const
{
    const storage::Array<double> *fields[FIELDS] = {&density_, &momentum_x_, &momentum_y_,
                                                    &energy_};
    const std::size_t cells                      = density_.count();
    double worst                                 = 0;

    for (std::size_t f = 0; f < FIELDS; f++) {
        const storage::Array<double> &field = *fields[f];
        double change                       = 0;
        double size                         = 0;

#pragma omp parallel for reduction(+ : change, size)
        for (std::size_t i = 0; i < cells; i++) {
            change += field[i] - initial_[f * cells + i];
            size += std::max(std::abs(field[i]), left.density);
        }
        worst = std::max(worst, std::abs(change) / size);
    }
    return worst;
}

std::uint64_t Solver::visits() const
{
    std::uint64_t sum = 0;

#pragma omp parallel for reduction(+ : sum)
    for (std::size_t i = 0; i < visits_.count(); i++) {
        sum += visits_[i];
    }
    return sum;
}

} // namespace hydro
