/* SPDX-License-Identifier: BSD-3-Clause */
/* exact.cpp: the pressure between rarefaction and shock is a root, found by bisection; all else
 * follows from it in closed form (Toro, Riemann Solvers and Numerical Methods, chapter 4). */

#include "bench/hydro/exact.hpp"
#include "bench/hydro/hydro.hpp"
#include <cmath>

namespace
{

const double g = hydro::gamma;

/* Velocity behind the rarefaction on the left, and behind the shock on the right, when the pressure
 * between them is @p pressure. */
double behind_rarefaction(double pressure)
{
    const double sound = std::sqrt(g * hydro::left.pressure / hydro::left.density);

    return 2 * sound / (g - 1) * (1 - std::pow(pressure / hydro::left.pressure, (g - 1) / (2 * g)));
}

double behind_shock(double pressure)
{
    const double a = 2 / ((g + 1) * hydro::right.density);
    const double b = (g - 1) / (g + 1) * hydro::right.pressure;

    return (pressure - hydro::right.pressure) * std::sqrt(a / (pressure + b));
}

double middle_pressure()
{
    double low  = hydro::right.pressure;
    double high = hydro::left.pressure;

    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2;

        (behind_rarefaction(middle) > behind_shock(middle) ? low : high) = middle;
    }
    return low;
}

} // namespace

namespace exact
{

double density(double position_over_time)
{
    static const double pressure = middle_pressure();
    static const double velocity = behind_shock(pressure);

    const double s        = position_over_time;
    const double sound    = std::sqrt(g * hydro::left.pressure / hydro::left.density);
    const double expanded = hydro::left.density * std::pow(pressure / hydro::left.pressure, 1 / g);
    const double tail_sound = std::sqrt(g * pressure / expanded);
    const double ratio      = pressure / hydro::right.pressure;
    const double wall       = (g - 1) / (g + 1);
    const double compressed = hydro::right.density * (ratio + wall) / (wall * ratio + 1);
    const double shock      = velocity * compressed / (compressed - hydro::right.density);

    if (s < -sound) {
        return hydro::left.density;
    }
    if (s < velocity - tail_sound) {
        return hydro::left.density * std::pow(2 / (g + 1) - wall * s / sound, 2 / (g - 1));
    }
    if (s < velocity) {
        return expanded;
    }
    return (s < shock) ? compressed : hydro::right.density;
}

} // namespace exact
