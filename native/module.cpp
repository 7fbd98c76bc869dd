// acausal._core: what must run at the speed of C. Each part binds itself; see the files of the same names.
#include <nanobind/nanobind.h>

#if defined(__GLIBC__)
#include <malloc.h>

#include <cstdlib>
#endif

void bind_chain(nanobind::module_ &);
void bind_delays(nanobind::module_ &);
void bind_explicit(nanobind::module_ &);
void bind_expressions(nanobind::module_ &);
void bind_graph(nanobind::module_ &);
void bind_matching(nanobind::module_ &);
void bind_grids(nanobind::module_ &);
void bind_media(nanobind::module_ &);
void bind_nodes(nanobind::module_ &);
void bind_pattern(nanobind::module_ &);
void bind_encoding(nanobind::module_ &);
void bind_tables(nanobind::module_ &);

namespace acausal {
void bind_system(nanobind::module_ &);
void bind_klu(nanobind::module_ &);
void bind_newton(nanobind::module_ &);
void bind_switches(nanobind::module_ &);
void bind_ida(nanobind::module_ &);
void bind_fixed(nanobind::module_ &);
void bind_tangent(nanobind::module_ &);
} // namespace acausal

namespace {

// Memory that was given back to the system comes again page by page, zeroed, each with a fault: a third of what the translation of a
// large plant took. glibc keeps more of it by itself once a program has freed a large block: these are the limits it comes to at
// most (malloc's DEFAULT_MMAP_THRESHOLD_MAX, and twice that), from the beginning. Whoever chose others has them.
void keep_freed_memory() {
#if defined(__GLIBC__) && defined(M_MMAP_THRESHOLD) && defined(M_TRIM_THRESHOLD)
    for (const char *chosen : {"MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "GLIBC_TUNABLES"})
        if (std::getenv(chosen)) return;
    constexpr int most = 32 << 20;
    mallopt(M_MMAP_THRESHOLD, most);
    mallopt(M_TRIM_THRESHOLD, 2 * most);
#endif
}

} // namespace

NB_MODULE(_core, m) {
    keep_freed_memory();
    nanobind::set_leak_warnings(false); // a session that lives as long as the interpreter is no fault of its user
    m.doc() = "The native core: evaluation of equation families, IDAS with KLU, graph and table algorithms.";
    acausal::bind_system(m);
    acausal::bind_klu(m);
    acausal::bind_newton(m);
    acausal::bind_switches(m);
    acausal::bind_tangent(m);
    acausal::bind_ida(m);
    acausal::bind_fixed(m);
    bind_chain(m);
    bind_delays(m);
    bind_nodes(m);
    bind_encoding(m);
    bind_explicit(m);
    bind_expressions(m);
    bind_graph(m);
    bind_matching(m);
    bind_pattern(m);
    bind_grids(m);
    bind_tables(m);
    bind_media(m);
}
