#!/usr/bin/env node
import { run } from './run.js';

// A reader that has seen enough (`ecf check | head`) closes the pipe; that is not our error. A full disk is an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`ecf: what it says cannot be written (${error.code ?? error.message}).\n`);
  process.exit(2);
});

process.exitCode = await run(process.argv.slice(2), process);
