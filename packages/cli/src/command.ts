import type { Options, OptionValues } from './options.js';

/** 0: all good. 1: some document is at fault. 2: wrong use. */
export type ExitCode = 0 | 1 | 2;

/** The streams and the clock a command works with. */
export interface Console {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
}

/** The exports of a command's file. */
export interface CommandModule {
  readonly options: Options;
  readonly help: string;
  execute(values: OptionValues, files: string[], console: Console): Promise<ExitCode>;
}
