/* SPDX-License-Identifier: BSD-3-Clause */
/* The mini-app's command line, its progress, its verification and its figures. */

#include "bench/hydro/hydro.hpp"
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

namespace
{

constexpr double time_max = 0.1; /* later the waves of the two tubes collide */

struct Options {
    std::size_t side  = 1024;
    std::size_t steps = 50;
    int along         = 0;
};

int complain(const char *program, const char *option, const char *value)
{
    std::fprintf(stderr,
                 "%s: \"%s%s%s\" is not understood\n"
                 "usage: %s [options]\n"
                 "  --side N               cells in each direction, at least 16 (1024)\n"
                 "  --steps N              time steps; fewer where waves would collide (50)\n"
                 "  --along x|y            direction of the shock tubes (x)\n%s",
                 program, option, (value == nullptr) ? "" : " ", (value == nullptr) ? "" : value,
                 program, storage::usage());
    return 2;
}

bool take_count(const std::string &value, std::size_t &count)
{
    count = std::strtoul(value.c_str(), nullptr, 10);
    return !value.empty() && value.find_first_not_of("0123456789") == std::string::npos;
}

bool take(const std::string &name, const std::string &value, Options &options)
{
    if (name == "--side") {
        return take_count(value, options.side) && options.side >= 16 && options.side <= 1 << 16;
    }
    if (name == "--steps") {
        return take_count(value, options.steps) && options.steps >= 1;
    }
    if (name == "--along") {
        options.along = (value == "y") ? 1 : 0;
        return value == "x" || value == "y";
    }
    return name == "--place" && storage::place(value);
}

/* A line for the terminal once a second, from the first one on. */
void show_progress(std::size_t done, std::size_t total)
{
    using clock                    = std::chrono::steady_clock;
    static const auto began        = clock::now();
    static clock::time_point shown = began;
    const auto now                 = clock::now();

    if (isatty(STDERR_FILENO) == 0) {
        return;
    }
    if (done == total && shown > began) {
        std::fprintf(stderr, "\r%-40s\r", "");
    } else if (now - shown > std::chrono::seconds(1)) {
        shown = now;
        std::fprintf(stderr, "\rstep %zu of %zu, %.0f s", done, total,
                     std::chrono::duration<double>(now - began).count());
    }
}

bool verify(const char *what, double error, double most)
{
    std::printf("%-14s %.3g (at most %.3g)\n", what, error, most);
    if (!(error <= most)) {
        std::fprintf(stderr, "%s: error %g, at most %g\n", what, error, most);
    }
    return error <= most;
}

/* The error of shocks and contacts is of the first order, whatever the method's. */
bool verify(const hydro::Solver &solver, const Options &options, std::size_t steps)
{
    const double side = static_cast<double>(options.side);
    const double lost =
        static_cast<double>(steps * solver.tracers()) - static_cast<double>(solver.visits());
    bool good = verify("sod-error", solver.density_error(), 2 / side);

    good = verify("drift-error", solver.drift_error(), 1e-10) && good;
    good = verify("conservation", solver.conservation_error(), 1e-12) && good;
    return verify("visits-lost", lost < 0 ? -lost : lost, 0) && good;
}

void print_times(const hydro::Solver &solver, const Options &options, std::size_t steps)
{
    static const char *const names[hydro::PHASES] = {"time-step", "sweep-x", "sweep-y", "tracers"};
    double total                                  = 0;

    for (int phase = 0; phase < hydro::PHASES; phase++) {
        const double spent = solver.seconds_of(static_cast<hydro::Phase>(phase));

        total += spent;
        std::printf("%-14s %.6f s\n", names[phase], spent);
    }
    std::printf("%-14s %.6f s\n", "total", total);
    std::printf("%-14s %.3f million cells/s\n", "rate",
                static_cast<double>(options.side * options.side * steps) / total / 1e6);
}

} // namespace

int main(int argument_count, char **arguments)
{
    Options options;
    std::size_t steps = 0;

    for (int i = 1; i < argument_count; i += 2) {
        if (i + 1 == argument_count || !take(arguments[i], arguments[i + 1], options)) {
            return complain(arguments[0], arguments[i], arguments[i + 1]);
        }
    }

    hydro::Solver solver(options.side, options.along);

    if (storage::unknown_array() != nullptr) {
        return complain(arguments[0], "--place", storage::unknown_array());
    }
    while (steps < options.steps && solver.time() < time_max) {
        solver.step();
        show_progress(++steps, options.steps);
    }
    std::printf("%-14s %zu x %zu, %zu steps, time %.4f\n", "cells", options.side, options.side,
                steps, solver.time());
    print_times(solver, options, steps);
    return verify(solver, options, steps) ? 0 : 1;
}
