// Finds circles of imports, and the files that a file loads directly or indirectly.

/** Finds circles of imports, type imports included. Each group of files is given as one shortest circle: [a, b, ..., a]. */
export function importCircles(sources) {
  const next = (file) => sources.get(file)?.imports.flatMap(({ to }) => (to && sources.has(to) ? [to] : [])) ?? [];
  return components([...sources.keys()], next)
    .filter((group) => group.length > 1 || next(group[0]).includes(group[0]))
    .map((group) => shortestCircle(group.sort(), next));
}

/** Tarjan's strongly connected components. */
function components(files, next) {
  const index = new Map();
  const low = new Map();
  const stack = [];
  const groups = [];
  const visit = (file) => {
    index.set(file, index.size);
    low.set(file, index.get(file));
    stack.push(file);
    for (const to of next(file)) {
      if (!index.has(to)) visit(to);
      if (stack.includes(to)) low.set(file, Math.min(low.get(file), low.get(to)));
    }
    if (low.get(file) === index.get(file)) groups.push(stack.splice(stack.indexOf(file)));
  };
  for (const file of files) if (!index.has(file)) visit(file);
  return groups;
}

function shortestCircle(group, next) {
  const within = (file) => next(file).filter((to) => group.includes(to));
  const circles = group.map((start) => wayBack(start, within)).filter(Boolean);
  return circles.sort((a, b) => a.length - b.length)[0];
}

function wayBack(start, next) {
  const queue = [[start]];
  const seen = new Set();
  for (const way of queue) {
    for (const to of next(way.at(-1))) {
      if (to === start) return [...way, start];
      if (!seen.has(to)) queue.push([...way, to]);
      seen.add(to);
    }
  }
  return null;
}

/**
 * For each file, the names that it loads at run time, directly or indirectly: file -> names. `wanted`
 * gets an import and returns such a name or undefined.
 */
export function loadedInTheEnd(sources, wanted) {
  const reached = new Map([...sources.keys()].map((file) => [file, new Set()]));
  const importers = new Map([...sources.keys()].map((file) => [file, []]));
  const queue = [];
  for (const [file, { imports }] of sources) {
    for (const one of imports.filter(({ typeOnly }) => !typeOnly)) {
      if (one.to && importers.has(one.to)) importers.get(one.to).push(file);
      const name = wanted(one);
      if (name && !reached.get(file).has(name)) {
        reached.get(file).add(name);
        queue.push([file, name]);
      }
    }
  }
  for (const [file, name] of queue) {
    for (const importer of importers.get(file)) {
      if (reached.get(importer).has(name)) continue;
      reached.get(importer).add(name);
      queue.push([importer, name]);
    }
  }
  return reached;
}

/** The file that declares `name` imported from `file`; files that only re-export it are followed. */
export function declaringFile(sources, file, name, seen = new Set()) {
  if (name === '*' || seen.has(file) || !sources.has(file)) return file;
  seen.add(file);
  for (const { to, names, exportedAs } of sources.get(file).imports) {
    if (!to || !sources.has(to)) continue;
    const at = exportedAs.indexOf(name);
    if (at !== -1) return declaringFile(sources, to, names[at], seen);
    if (exportedAs.includes('*') && passesOn(sources, to, name)) return declaringFile(sources, to, name, seen);
  }
  return file;
}

function passesOn(sources, file, name, seen = new Set()) {
  if (seen.has(file) || !sources.has(file)) return false;
  seen.add(file);
  const { declares, imports } = sources.get(file);
  if (declares.has(name)) return true;
  return imports.some(
    ({ to, exportedAs }) =>
      exportedAs.includes(name) || (exportedAs.includes('*') && passesOn(sources, to, name, seen)),
  );
}
