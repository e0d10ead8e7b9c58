import type { CommandModule } from './command.js';

interface CommandEntry {
  /** `documents` work on files alone; `operation` on a gateway that is deployed. */
  readonly section: 'documents' | 'operation';
  readonly summary: string;
  /** Loaded when it is used, so that a check does not wait for the parts that only signing needs. */
  load(): Promise<CommandModule>;
}

/** Every command of `ecf`. A new one is a file in commands/ (those on files alone in commands/documents/) and a row here. */
export const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  check: {
    section: 'documents',
    summary: 'check documents, from files, or one per line on standard input',
    load: () => import('./commands/documents/check.js'),
  },
  build: {
    section: 'documents',
    summary: 'convert JSON to unsigned XML',
    load: () => import('./commands/documents/build.js'),
  },
  sign: {
    section: 'documents',
    summary: 'convert JSON or XML to signed XML',
    load: () => import('./commands/documents/sign.js'),
  },
  verify: {
    section: 'documents',
    summary: 'verify signatures and check the documents',
    load: () => import('./commands/documents/verify.js'),
  },
  qr: {
    section: 'documents',
    summary: 'write the confirmation address of a signed document',
    load: () => import('./commands/documents/qr.js'),
  },
  print: {
    section: 'documents',
    summary: 'print a signed e-CF as PDF',
    load: () => import('./commands/documents/print.js'),
  },
  rfce: {
    section: 'documents',
    summary: 'write the unsigned summary of a signed type 32',
    load: () => import('./commands/documents/rfce.js'),
  },
  submit: {
    section: 'operation',
    summary: 'submit any number of invoices, one per line, in batches',
    load: () => import('./commands/submit.js'),
  },
  dlq: {
    section: 'operation',
    summary: 'list events that a service gave up (dead letters), replay or dismiss them',
    load: () => import('./commands/dlq.js'),
  },
  deliveries: {
    section: 'operation',
    summary: 'list deliveries to buyers, repeat one',
    load: () => import('./commands/deliveries.js'),
  },
  resolve: {
    section: 'operation',
    summary: 'list documents that need a person, resolve one',
    load: () => import('./commands/resolve.js'),
  },
  cancellations: {
    section: 'operation',
    summary: 'list cancellations that need a person, settle one',
    load: () => import('./commands/cancellations.js'),
  },
  approvals: {
    section: 'operation',
    summary: 'list approvals that the authority has not decided, settle or repeat one',
    load: () => import('./commands/approvals.js'),
  },
  keys: {
    section: 'operation',
    summary: 'make the keys and passwords of services, seal everything under the newest master key',
    load: () => import('./commands/keys.js'),
  },
  audit: {
    section: 'operation',
    summary: 'export the audit log, or verify that it is whole',
    load: () => import('./commands/audit.js'),
  },
  rebuild: {
    section: 'operation',
    summary: 'rebuild the read models',
    load: () => import('./commands/rebuild.js'),
  },
  'verify-archive': {
    section: 'operation',
    summary: 'compare the stored XML with the databases',
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
Exit code: 0 success, 1 a document has faults, 2 wrong usage.

\`ecf help COMMAND\` explains a command, \`ecf --version\` prints the version.
`;
}
