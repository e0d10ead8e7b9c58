import type { CommandModule } from './command.js';

interface CommandEntry {
  /** `documents` work on files alone; `operation` on a gateway that is deployed. */
  readonly section: 'documents' | 'operation';
  readonly summary: string;
  /** Loaded when it is used, so that a check does not wait for the parts that only signing needs. */
  load(): Promise<CommandModule>;
}

/** Every command of `ecf`. A new one is a file in commands/ and a row here. */
export const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  check: {
    section: 'documents',
    summary: 'check documents, in files or one a line on standard input',
    load: () => import('./commands/check.js'),
  },
  build: { section: 'documents', summary: 'JSON to unsigned XML', load: () => import('./commands/build.js') },
  sign: { section: 'documents', summary: 'JSON or XML to signed XML', load: () => import('./commands/sign.js') },
  verify: {
    section: 'documents',
    summary: 'verify signatures and check the documents',
    load: () => import('./commands/verify.js'),
  },
  qr: {
    section: 'documents',
    summary: 'the confirmation address of a signed document',
    load: () => import('./commands/qr.js'),
  },
  rfce: {
    section: 'documents',
    summary: 'the unsigned summary of a signed type 32',
    load: () => import('./commands/rfce.js'),
  },
  dlq: {
    section: 'operation',
    summary: 'list dead letters, hand them to their consumers again',
    load: () => import('./commands/dlq.js'),
  },
  deliveries: {
    section: 'operation',
    summary: 'list deliveries to buyers, have one sent again',
    load: () => import('./commands/deliveries.js'),
  },
  resolve: {
    section: 'operation',
    summary: 'list documents that need a person, decide on one',
    load: () => import('./commands/resolve.js'),
  },
  cancellations: {
    section: 'operation',
    summary: 'list cancellations that need a person, settle one',
    load: () => import('./commands/cancellations.js'),
  },
  approvals: {
    section: 'operation',
    summary: 'list approvals that the authority has not decided about, settle one',
    load: () => import('./commands/approvals.js'),
  },
  rebuild: {
    section: 'operation',
    summary: 'make the read models anew',
    load: () => import('./commands/rebuild.js'),
  },
  'verify-archive': {
    section: 'operation',
    summary: 'compare the stored XML with what the databases say exists',
    load: () => import('./commands/verify-archive.js'),
  },
};

const SECTIONS = { documents: 'Documents', operation: 'Operation of a gateway' } as const;

/** The help text that names all commands. */
export function overview(): string {
  const sections = Object.entries(SECTIONS).flatMap(([section, title]) => {
    const commands = Object.entries(COMMANDS).filter(([, command]) => command.section === section);
    if (commands.length === 0) return [];
    return [`${title}\n${commands.map(([name, { summary }]) => `  ${name.padEnd(16)}${summary}\n`).join('')}`];
  });
  return `ecf: electronic fiscal receipts (e-CF) on the command line

Usage: ecf COMMAND [options] [FILE...]

${sections.join('\n')}
Results go to standard output, everything else to standard error.
Ends with 0 when all is good, 1 when some document is at fault, 2 when it was used wrongly.

\`ecf help COMMAND\` tells more about one of them, \`ecf --version\` its version.
`;
}
