// Loads the modules of test files: the sources under test and the libraries once for each process of Jest, the tests and their
// support for each file. Linking and evaluating a service takes a second or two, and modules here keep no state.
import { fromJest } from './jest-parts.mjs';

const Runtime = fromJest('jest-runtime').default;

class SharedRuntime extends Runtime {
  constructor(...parts) {
    super(...parts);
    for (const part of [
      'esmLoader',
      'executor',
      'jestGlobals',
      'mockState',
      'registries',
      'testMainModule',
      'testState',
    ])
      if (this[part] === undefined)
        throw new Error(`this version of jest-runtime has no ${part}; see ${import.meta.url}`);
  }

  /** Goes on with another file. */
  begin(testPath) {
    this._testPath = testPath;
    this.esmLoader.testPath = testPath;
    this.executor.testPath = testPath;
    this.testState.state = 'loading';
  }

  /** Forgets what belongs to one file. Libraries may ask for further modules of theirs after it. */
  teardown() {
    this.restoreAllMocks();
    this.mockState.clear();
    this.testMainModule.reset();
    this.jestGlobals.clearJestObjectCache();
    const { esModuleRegistry, moduleRegistry, internalModuleRegistry, mockRegistry, moduleMockRegistry } =
      this.registries;
    this.testState.state = 'loading';
    for (const registry of [internalModuleRegistry, mockRegistry, moduleMockRegistry]) registry.clear();
    for (const registry of [esModuleRegistry, moduleRegistry]) {
      for (const key of registry.keys()) if (belongsToFile(key)) registry.delete(key);
    }
  }
}

function belongsToFile(key) {
  if (key.startsWith('@jest/globals/')) return true;
  return !key.includes('/node_modules/') && /\/(test|test-e2e)\//.test(key);
}

let shared = null;

/** Hands out the one runtime of this process; in a watch, where sources change meanwhile, a new one each time. */
export default class TestRuntime {
  constructor(...parts) {
    const [testPath, { watch, watchAll }] = parts.slice(6);
    if (shared === null || watch || watchAll) shared = new SharedRuntime(...parts);
    else shared.begin(testPath);
    // biome-ignore lint/correctness/noConstructorReturn: Jest makes one for each file
    return shared;
  }
}
