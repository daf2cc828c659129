/**
 * Containers as a query names them: those in use as they are, and `/pci/*` for an ancestor that no token is in itself.
 * The order is that of the paths given, each before its ancestors; at most `max`.
 */
export function containersInUse(paths: ReadonlySet<string>, max: number): readonly string[] {
  const words = new Set(paths);
  for (const path of paths) {
    for (const ancestor of ancestorsOf(path)) if (!paths.has(ancestor)) words.add(`${ancestor}*`);
    if (words.size >= max) break;
  }
  return [...words].slice(0, max);
}

/** `/a/b/` lies in `/a/`; that all lie in `/` tells nothing. */
function ancestorsOf(path: string): readonly string[] {
  const segments = path.split('/').slice(1, -2);
  return segments.map((_, depth) => `/${segments.slice(0, depth + 1).join('/')}/`);
}
