// Jest's order of test files. A new checkout remembers no durations, and by size alone the scenarios, short files that
// start whole deployments, would come last and leave a core idle.
import fs from 'node:fs';

/** What takes longest comes first. */
const FIRST = ['scenarios/chaos', 'scenarios/distributed', 'scenarios/', ''];

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

function rank({ path, context }) {
  if (context.config.displayName?.name === 'distributed') return 0.5;
  return FIRST.findIndex((part) => path.includes(part));
}
