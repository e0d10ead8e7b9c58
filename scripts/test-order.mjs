// Sorts the test files of a run: scenarios first. Jest sorts by size if it has no recorded durations; the scenarios, short files that
// start whole deployments, would then be last and leave a core idle.
import fs from 'node:fs';

export default class TestOrder {
  sort(tests) {
    const key = new Map(tests.map((test) => [test, [rank(test), -fs.statSync(test.path).size]]));
    return [...tests].sort((a, b) => {
      const [first, second] = [key.get(a), key.get(b)];
      return first[0] - second[0] || first[1] - second[1];
    });
  }

  allFailedTests(tests) {
    return tests;
  }

  cacheResults() {}
}

/** The slowest files are first. */
function rank({ path }) {
  return /scenarios|clients/.test(path) ? 0 : 1;
}
