import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const cli = createRequire(createRequire(require.resolve('jest')).resolve('jest-cli'));
const config = createRequire(cli.resolve('jest-config'));
const runner = createRequire(config.resolve('jest-runner'));

/** A package that Jest brings with it, in the version that Jest itself uses. */
export function fromJest(name) {
  return (name === 'jest-runtime' ? runner : config)(name);
}
