import type { CommandModule } from './command.js';

interface CommandEntry {
  /** `documents` work on files alone, `gateway` on the documents of a gateway, `operations` on a deployment. */
  readonly section: keyof typeof SECTIONS;
  readonly summary: string;
  /** Loaded when it is used, so that a check does not wait for the parts that only signing needs. */
  load(): Promise<CommandModule>;
}

/** Every command of `ecf`. A new one is a file in commands/ (those on files alone in commands/documents/) and a row here. */
export const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  check: {
    section: 'documents',
    summary: 'Check documents against the schema and the rules',
    load: () => import('./commands/documents/check.js'),
  },
  build: {
    section: 'documents',
    summary: 'Convert JSON to unsigned XML',
    load: () => import('./commands/documents/build.js'),
  },
  sign: {
    section: 'documents',
    summary: 'Convert JSON or XML to signed XML',
    load: () => import('./commands/documents/sign.js'),
  },
  verify: {
    section: 'documents',
    summary: 'Verify signatures and check the documents',
    load: () => import('./commands/documents/verify.js'),
  },
  qr: {
    section: 'documents',
    summary: 'Write the address for the QR code of a signed document',
    load: () => import('./commands/documents/qr.js'),
  },
  print: {
    section: 'documents',
    summary: 'Print a signed e-CF as PDF',
    load: () => import('./commands/documents/print.js'),
  },
  rfce: {
    section: 'documents',
    summary: 'Write the unsigned summary of a signed type 32',
    load: () => import('./commands/documents/rfce.js'),
  },
  submit: {
    section: 'gateway',
    summary: 'Submit any number of invoices in batches',
    load: () => import('./commands/submit.js'),
  },
  rehearse: {
    section: 'gateway',
    summary: 'Compare the authority with our rules and the simulator',
    load: () => import('./commands/rehearse.js'),
  },
  dlq: {
    section: 'operations',
    summary: 'List, replay or dismiss events that a service gave up',
    load: () => import('./commands/dlq.js'),
  },
  deliveries: {
    section: 'gateway',
    summary: 'List deliveries to buyers, repeat one',
    load: () => import('./commands/deliveries.js'),
  },
  resolve: {
    section: 'gateway',
    summary: 'List documents that need a person, resolve one',
    load: () => import('./commands/resolve.js'),
  },
  cancellations: {
    section: 'gateway',
    summary: 'List cancellations that need a person, settle one',
    load: () => import('./commands/cancellations.js'),
  },
  approvals: {
    section: 'gateway',
    summary: 'List undecided approvals, settle or repeat one',
    load: () => import('./commands/approvals.js'),
  },
  doctor: {
    section: 'operations',
    summary: 'Check a deployment, and say what to do about each fault',
    load: () => import('./commands/doctor.js'),
  },
  status: {
    section: 'operations',
    summary: 'Show documents of today, alarms, queues and the authority',
    load: () => import('./commands/status.js'),
  },
  keys: {
    section: 'operations',
    summary: 'Make keys and passwords, seal under a new master key',
    load: () => import('./commands/keys.js'),
  },
  audit: {
    section: 'operations',
    summary: 'Export the audit log, or verify that it is whole',
    load: () => import('./commands/audit.js'),
  },
  rebuild: {
    section: 'operations',
    summary: 'Rebuild the read models',
    load: () => import('./commands/rebuild.js'),
  },
  backup: {
    section: 'operations',
    summary: 'Copy a running deployment to a folder, verify the copy',
    load: () => import('./commands/backup.js'),
  },
  restore: {
    section: 'operations',
    summary: 'Restore a backup into an empty deployment',
    load: () => import('./commands/restore.js'),
  },
  'verify-archive': {
    section: 'operations',
    summary: 'Compare the stored XML with the databases',
    load: () => import('./commands/verify-archive.js'),
  },
};

const SECTIONS = {
  documents: 'Documents (files only, no gateway)',
  gateway: 'Gateway',
  operations: 'Operations of a deployment',
} as const;

/** The help text that names all commands, for a terminal of 80 columns. */
export function overview(): string {
  const sections = Object.entries(SECTIONS).map(([section, title]) => {
    const commands = Object.entries(COMMANDS).filter(([, command]) => command.section === section);
    return `${title}\n${commands.map(([name, { summary }]) => `  ${name.padEnd(16)}${summary}\n`).join('')}`;
  });
  return `Electronic fiscal receipts (e-CF) on the command line.

Usage
  ecf COMMAND [options] [FILE...]

${sections.join('\n')}
Examples
  ecf check invoice.json
  ecf sign --certificate holder.p12 --password-file password.txt \\
    invoice.json > signed.xml
  ecf print signed.xml -o invoice.pdf
  ecf submit invoices.ndjson --env TesteCF --results results.ndjson

Environment
  ECF_URL         address of the gateway
  ECF_API_KEY     key of an account, for submit and rehearse
  ADMIN_TOKEN     token of an administrator, for the other commands
  DATA_DIR        data folder of a sandbox that supplies what is not set

Exit codes
  0  success
  1  a document has faults, or the result is not complete
  2  wrong usage, or a file or the gateway cannot be read

Results go to standard output, everything else to standard error.
\`ecf help COMMAND\` explains a command, \`ecf --version\` prints the version.
`;
}
