export type { Console, ExitCode } from './command.js';
export { run } from './run.js';
