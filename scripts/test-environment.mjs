// The world in which test files run: made once for each process of Jest, for one file after the other. Jest's own answers every
// look at a global by way of a proxy, two hundred times as slow as the real thing, and is made anew for each file.
import vm from 'node:vm';
import { fromJest } from './jest-parts.mjs';

const NodeEnvironment = fromJest('jest-environment-node').default;

/** What a new context has of its own and yet must be the one of this process. */
const OF_PROCESS = new Set(['Buffer', 'ArrayBuffer', 'Uint8Array', 'console', 'process']);

/** Globals that warn whoever looks at them. */
const STORAGE = new Set(['localStorage', 'sessionStorage']);

const ORDINARY = { configurable: true, writable: true };

/** What Jest keeps in the globals about one file, by the descriptions of its symbols. */
const OF_ONE_FILE = new Set([
  'EVENT_HANDLERS',
  'JEST_STATE_SYMBOL',
  'LOG_ERRORS_BEFORE_RETRY',
  'RETRY_IMMEDIATELY',
  'RETRY_TIMES',
  'RETRY_TIMES_SETTER',
  'TEST_TIMEOUT_SYMBOL',
  'WAIT_BEFORE_RETRY',
]);

/** The globals of test files, and what they were before the first of them. */
class World extends NodeEnvironment {
  constructor(config, context) {
    super(config, context);
    const made = this.global;
    this.context = vm.createContext(vm.constants.DONT_CONTEXTIFY);
    this.global = vm.runInContext('globalThis', this.context);
    const own = new Set(Object.getOwnPropertyNames(this.global));
    for (const name of Reflect.ownKeys(made)) {
      if (name === 'globalThis' || (own.has(name) && !OF_PROCESS.has(name))) continue;
      const is = Object.getOwnPropertyDescriptor(made, name);
      const { enumerable } = is;
      const given = 'value' in is || STORAGE.has(name) ? is : { ...ORDINARY, enumerable, value: made[name] };
      Object.defineProperty(this.global, name, given);
    }
    const { Error: ErrorOfTests, Symbol: SymbolOfTests } = this.global;
    this.global.global = this.global;
    ErrorOfTests.stackTraceLimit = 100;
    for (const name of ['dispose', 'asyncDispose']) SymbolOfTests[name] ??= SymbolOfTests.for(`nodejs.${name}`);
    this.moduleMocker = new this.moduleMocker.constructor(this.global);
    this.fakeTimers = null;
    this.fakeTimersModern = new this.fakeTimersModern.constructor({
      config: config.projectConfig,
      global: this.global,
    });
    this.globals = Object.entries(Object.getOwnPropertyDescriptors(this.global)).filter(([, is]) => is.configurable);
    this.exit = this.global.process.exit;
    this.variables = { ...this.global.process.env };
  }

  /** Makes the globals what they were, but for those that modules have added: they are loaded once. */
  begin() {
    for (const symbol of Object.getOwnPropertySymbols(this.global)) {
      if (OF_ONE_FILE.has(symbol.description)) Reflect.deleteProperty(this.global, symbol);
    }
    for (const [name, is] of this.globals) Object.defineProperty(this.global, name, is);
    const { process } = this.global;
    process.exit = this.exit;
    process.removeAllListeners();
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, this.variables);
  }

  async teardown() {
    this.fakeTimersModern.useRealTimers();
  }
}

let world = null;

/** Hands out the one world of this process; in a watch, where files run again and again, a new one each time. */
export default class TestEnvironment {
  constructor(config, context) {
    const { watch, watchAll } = config.globalConfig;
    if (world === null || watch || watchAll) world = new World(config, context);
    else world.begin();
    // biome-ignore lint/correctness/noConstructorReturn: Jest makes one for each file
    return world;
  }
}
