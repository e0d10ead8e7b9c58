// The order of test files. Without recorded durations Jest sorts by size: the scenarios, short files that start whole deployments,
// would come last and leave a core idle.
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

/** The slowest files come first. The two that start every service over Kafka do not run at the same time. */
function rank({ path }) {
  if (path.includes('scenarios/chaos')) return 0;
  if (path.includes('scenarios/distributed')) return 2;
  return path.includes('scenarios/') ? 1 : 3;
}
