import { randomBytes } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { OwnAccountBody } from '@ecf/contracts';
import {
  ECF_TYPES,
  type EcfType,
  type Environment,
  encfSequence,
  formatDocumentDate,
  formatSortableDateTime,
  isEcfType,
  isRnc,
  RUN_ENVIRONMENTS,
  toIsoDominican,
} from '@ecf/domain';
import type { Console, ExitCode } from '../command.js';
import { type GatewayCalls, json, openGateway } from '../gateway-calls.js';
import { type Options, type OptionValues, UsageError } from '../options.js';
import { wantsJson } from '../output.js';
import { documentsFor } from '../rehearsal/documents.js';
import { type Row, rehearse } from '../rehearsal/rehearsal.js';
import { type Gateway, report, reportRow } from '../rehearsal/report.js';
import { countsOf, table } from '../rehearsal/table.js';
import { ownVersion } from '../version.js';

export const options: Options = {
  env: 'value',
  issuer: 'value',
  types: 'value',
  wait: 'value',
  out: 'value',
  anonymous: 'switch',
  'data-dir': 'value',
  json: 'switch',
  text: 'switch',
};

export const help = `ecf rehearse --env TesteCF|CerteCF --issuer RNC [options]

Proves in a test environment that this gateway and the authority agree. Submits
a small sale of each type with automatic numbers, among them notes on a document
of the rehearsal and a small and a large consumer invoice. Delivers a document
to its own issuer and approves it. Compares each answer of the authority with
what our rules and the simulator say of the same signed bytes: status, codes
and, after a rejection, whether the number is used.

Options
  --env ENV      TesteCF or CerteCF; eCF is refused. In CerteCF, send nothing
                 while the portal waits for a data set: a rejection restarts it
  --issuer RNC   the taxpayer; its certificate and number ranges are registered
  --types LIST   for example 31,32,34; default all. 33 and 34 add the 31 that
                 they modify; only 31 adds delivery and approval
  --wait SECONDS how long to wait for each decision; default 600
  --out FILE     writes a report for a bug report: versions, XML as it was sent,
                 the authority's unchanged answers. It contains no private key
                 and no API key. An existing file is replaced
  --anonymous    leaves out of the report: the gateway's address, names, also
                 of the signer, addresses, mail, telephone numbers, cédulas and
                 the certificates in signatures. What stays are the RNC of
                 companies, numbers, dates, amounts and trackIds
  --data-dir D   data folder of a sandbox, for its demo.json; default DATA_DIR,
                 else .data
  --json         one JSON object per row; --text is for people, the default on a
                 terminal

The buyer is the authority's taxpayer for tests, 131880681. A repeated call of
the same rehearsal uses no second number. After Ctrl-C or an error, the numbers
used are stated, and a new run uses new ones: documents of test environments
have no fiscal effect.

The gateway is ECF_URL with ECF_API_KEY (scopes submit, read and approve);
demo.json supplies what is not set. Its address and whether its authority is a
simulator, as in a sandbox, are stated first, in the summary and in the report.
With a simulator, exit code 0 says nothing about the authority.

Exit codes
  0  all rows agree
  1  a row differs
  2  wrong usage, or a row has no result

Examples
  ecf rehearse --env TesteCF --issuer 131000001
  ecf rehearse --env TesteCF --issuer 131000001 --out report.json --anonymous
`;

const DEFAULT_WAIT_S = 600;
const MOST_TAXPAYERS = 100;
const SCOPES = ['submit', 'read', 'approve'] as const;
/** Width of a text that is not written to a terminal. */
const COLUMNS = 80;

/** What a rehearsal reads of `GET /`. */
interface Service {
  readonly version: string;
  readonly authority: Gateway['authority'];
}

type OwnTaxpayer = OwnAccountBody['taxpayers'][number];

export async function execute(values: OptionValues, files: string[], console: Console): Promise<ExitCode> {
  if (files.length > 0) throw new UsageError(`no FILE is taken; what is "${files[0]}"?`);
  const env = environmentOf(values.env);
  const issuer = issuerOf(values.issuer);
  const types = typesOf(values.types);
  const waitMs = waitOf(values.wait) * 1_000;
  const anonymous = values.anonymous === true;
  if (anonymous && values.out === undefined) throw new UsageError('--anonymous belongs to --out FILE.');
  const asJson = wantsJson(values, console.stdout);
  const say = (text: string) => console.stderr.write(`${text}\n`);
  const interruption = new AbortController();
  const calls = openGateway(values['data-dir'] as string | undefined, process.env, env, {
    command: 'rehearse',
    remedy: 'When that is solved, run the command again.',
    say,
    signal: interruption.signal,
  });
  const account = await accountOf(calls);
  const { version, authority } = await calls.request('/', json<Service>('version', 'authority'));
  const gateway: Gateway = { url: calls.url, authority };
  const taxpayer = await taxpayerOf(calls, account, issuer);
  checkReadiness(calls, account, taxpayer, env, types);
  const out = typeof values.out === 'string' ? await openOut(values.out) : null;
  const began = new Date();
  const id = `rehearsal-${formatSortableDateTime(began).replace(/[-:]/g, '').replace(' ', '-')}-${randomBytes(2).toString('hex')}`;
  say(`Rehearsal of ${issuer} in ${env}. Reference of its documents: ${id}\n${gatewayText(gateway)}`);
  const { createJudge } = await import('@ecf/authority-simulator/judge');
  const rows: Row[] = [];
  const numbers: string[] = [];
  const interrupt = () => interruption.abort();
  process.once('SIGINT', interrupt);
  let failure: string | null = null;
  try {
    for await (const row of rehearse({
      calls,
      judge: createJudge([{ rnc: issuer, name: taxpayer.name, ranges: rangesOf(taxpayer) }]),
      id,
      env,
      issuer: taxpayer,
      types,
      waitMs,
      signal: interruption.signal,
      clock: () => new Date(),
      onNumber: (encf) => numbers.push(encf),
      say: (text) => say(`ecf rehearse: ${text}`),
    })) {
      rows.push(row);
      if (asJson) console.stdout.write(`${JSON.stringify(reportRow(row))}\n`);
    }
  } catch (error) {
    if (interruption.signal.aborted) failure = 'interrupted.';
    else if (error instanceof UsageError) failure = error.message;
    else throw error;
  } finally {
    process.off('SIGINT', interrupt);
  }
  if (!asJson && rows.length > 0)
    console.stdout.write(
      `${table(rows, console.stdout.columns ?? COLUMNS)}\n${conclusion(rows, gateway, failure, values)}`,
    );
  if (out !== null) {
    const facts = {
      env,
      issuer: { rnc: issuer, name: taxpayer.name },
      gateway,
      reference: id,
      began_at: toIsoDominican(began),
      ended_at: toIsoDominican(new Date()),
      versions: versionsWith(version),
    };
    await out.write(report(facts, rows, anonymous));
    say(`The report is in ${values.out}.`);
  }
  if (failure !== null) {
    const used = numbers.length === 0 ? 'No number was used.' : `Numbers used: ${numbers.join(', ')}.`;
    say(`ecf rehearse: ${failure} ${used} A number of a call without an answer is listed under the reference ${id}.`);
  }
  const { differ, notCompared } = countsOf(rows);
  if (differ > 0) return 1;
  return failure !== null || notCompared > 0 ? 2 : 0;
}

function environmentOf(given: unknown): Environment {
  const found = RUN_ENVIRONMENTS.find((one) => one === given);
  if (found !== undefined) return found;
  if (given === 'eCF')
    throw new UsageError(
      'a rehearsal in eCF would issue real invoices, so it is refused. Say --env TesteCF or --env CerteCF.',
    );
  throw new UsageError('say the environment: --env TesteCF or --env CerteCF.');
}

function issuerOf(given: unknown): string {
  if (typeof given !== 'string') throw new UsageError('say the taxpayer: --issuer RNC.');
  if (!isRnc(given)) throw new UsageError(`--issuer is 9 or 11 digits without dashes, not "${given}".`);
  return given;
}

function typesOf(given: unknown): ReadonlySet<EcfType> {
  if (typeof given !== 'string') return new Set(ECF_TYPES);
  const types = given.split(',').map((type) => type.trim());
  const unknown = types.find((type) => !isEcfType(type));
  if (unknown !== undefined)
    throw new UsageError(`--types has "${unknown}", which is not a type. The types are ${ECF_TYPES.join(', ')}.`);
  return new Set(types.filter(isEcfType));
}

function waitOf(given: unknown): number {
  if (given === undefined) return DEFAULT_WAIT_S;
  const seconds = Number(given);
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > 86_400)
    throw new UsageError('--wait is a whole number of seconds from 1 to 86400.');
  return seconds;
}

async function accountOf(calls: GatewayCalls, offset = 0): Promise<OwnAccountBody> {
  return calls.request(
    `/account?limit=${MOST_TAXPAYERS}&offset=${offset}`,
    json<OwnAccountBody>('taxpayers', 'scopes'),
  );
}

/** The taxpayer, which the key has to serve. */
async function taxpayerOf(calls: GatewayCalls, account: OwnAccountBody, rnc: string): Promise<OwnTaxpayer> {
  for (let page = account, offset = 0; page.taxpayers.length > 0; page = await accountOf(calls, offset)) {
    const found = page.taxpayers.find((taxpayer) => taxpayer.rnc === rnc);
    if (found !== undefined) return found;
    offset += page.taxpayers.length;
  }
  throw new UsageError(
    `the API key does not serve the taxpayer ${rnc}. Register it with the account of the key, or use its key.`,
  );
}

/** Refuses a rehearsal that cannot succeed, before anything is sent. */
function checkReadiness(
  calls: GatewayCalls,
  { account, key, environments, scopes }: OwnAccountBody,
  { rnc, active, certificate_not_after, ranges }: OwnTaxpayer,
  env: Environment,
  types: ReadonlySet<EcfType>,
): void {
  if (!environments.includes(env))
    throw new UsageError(`the API key "${key.name}" is not for ${env}; it is for ${environments.join(', ')}.`);
  const missing = SCOPES.filter((scope) => !scopes.includes(scope));
  if (missing.length > 0)
    throw new UsageError(
      `the API key "${key.name}" has no scope ${missing.join(', ')}; a rehearsal needs ${SCOPES.join(', ')}.`,
    );
  if (!active) throw new UsageError(`the taxpayer ${rnc} is deactivated.`);
  if (certificate_not_after === null)
    throw new UsageError(`the taxpayer ${rnc} has no certificate. Upload it: docs/operators.md, "Add a customer".`);
  if (Date.parse(certificate_not_after) < Date.now())
    throw new UsageError(`the certificate of ${rnc} expired at ${certificate_not_after}. Upload a new one.`);
  const lacking = lackingTypes(ranges, env, types);
  if (lacking.length === 0) return;
  throw new UsageError(
    `${rnc} has too few free numbers in ${env} of type ${lacking.join(', ')}, so no document was sent.
Register ranges with the commands below, which add to the registered ranges.
These are the usual ones of TesteCF; in CerteCF, put those of the portal in
their place.

${rangesCommand(calls.url, scopes.includes('manage') ? null : account.id, rnc, newRanges(ranges, env, lacking))}
`,
  );
}

/** Types without enough numbers in their ranges. */
function lackingTypes(ranges: OwnTaxpayer['ranges'], env: Environment, types: ReadonlySet<EcfType>): EcfType[] {
  const needed = new Map<EcfType, number>();
  for (const { type } of documentsFor(types)) needed.set(type, (needed.get(type) ?? 0) + 1);
  return [...needed]
    .flatMap(([type, count]) => {
      const usable = ranges.filter((range) => range.env === env && range.ecf_type === type && range.next !== null);
      const remaining = usable.reduce((sum, range) => sum + (range.remaining ?? count), 0);
      return remaining < count ? [type] : [];
    })
    .sort();
}

/** The numbers of every taxpayer in TesteCF, and the expiry that issuers report. Source: docs/going-live.md. */
const TEST_NUMBERS = 10_000_000;
const TEST_EXPIRY = '2028-12-31';

/** A range for each type that lacks numbers, after the ranges that it has. */
function newRanges(ranges: OwnTaxpayer['ranges'], env: Environment, lacking: readonly EcfType[]): object[] {
  return lacking.map((ecf_type) => {
    const known = ranges.filter((range) => range.env === env && range.ecf_type === ecf_type);
    const last = Math.max(0, ...known.map(({ to }) => sequenceOf(to)));
    const number = (sequence: number) => `E${ecf_type}${String(sequence).padStart(10, '0')}`;
    const expires = ecf_type === '32' || ecf_type === '34' ? null : TEST_EXPIRY;
    return { env, ecf_type, from: number(last + 1), to: number(Math.max(TEST_NUMBERS, last + 1_000)), expires };
  });
}

/**
 * A shell command that adds the ranges to the registered ones: by the key itself if it may, else by an administrator. It reads
 * the registered ones, because a key does not see those of eCF, and a list without them would remove them.
 */
function rangesCommand(url: string, accountId: string | null, rnc: string, ranges: readonly object[]): string {
  const path = `${accountId === null ? '/account' : `/admin/accounts/${accountId}`}/taxpayers/${rnc}/ranges`;
  const credential = accountId === null ? 'x-api-key: $ECF_API_KEY' : 'authorization: Bearer $ADMIN_TOKEN';
  return `URL=${new URL(path, url)}
curl -fsS $URL -H "${credential}" | node -p '
  const known = JSON.parse(require("fs").readFileSync(0)).map(({ next, remaining, ...range }) => range);
  JSON.stringify([...known,
${ranges.map((range) => `    ${JSON.stringify(range)}`).join(',\n')}])' |
  curl -fsS -X PUT $URL -H "${credential}" -H 'content-type: application/json' -d @-`;
}

function sequenceOf(encf: string): number {
  return encfSequence(encf) ?? 0;
}

/** The ranges as the simulator's register has them. */
function rangesOf({ ranges }: OwnTaxpayer) {
  return ranges.map(({ env, ecf_type, from, to, expires }) => ({
    env,
    ecf_type,
    from: sequenceOf(from),
    to: sequenceOf(to),
    expires: expires === null ? null : formatDocumentDate(expires),
  }));
}

/** Opened before anything is sent, so that a report is not lost to a wrong name. */
async function openOut(name: string): Promise<{ write(text: string): Promise<void> }> {
  function unwritable(cause: Error): never {
    throw new UsageError(`${name} cannot be written (${cause.message}).`, { cause });
  }
  const file = await open(name, 'w', 0o600).catch(unwritable);
  return {
    async write(text) {
      await file.writeFile(text).catch(unwritable);
      await file.close();
    },
  };
}

function versionsWith(gateway: string): Record<string, string> {
  return {
    ecf: ownVersion(),
    gateway,
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
  };
}

/** Who answered as the authority. */
function gatewayText({ url, authority }: Gateway): string {
  const who = authority === 'official' ? 'its official hosts' : 'a simulator, not DGII';
  return `Gateway: ${url}. Authority: ${who}.`;
}

/** The summary, and what to do next. */
function conclusion(
  rows: readonly Row[],
  gateway: Gateway,
  failure: string | null,
  { out, anonymous }: OptionValues,
): string {
  const { agree, differ, notCompared } = countsOf(rows);
  const lines = [gatewayText(gateway), `${agree} agree, ${differ} differ, ${notCompared} without result`];
  if (differ > 0) {
    lines.push(
      out === undefined
        ? 'Report the difference: run it again with --out report.json --anonymous, and attach the file.'
        : `Report the difference: attach ${out}${anonymous === true ? '' : ' (it names the taxpayer and the signer; --anonymous leaves them out)'}.`,
    );
  }
  if (notCompared > 0) lines.push('Remove the cause that a row without result names, then run it again.');
  if (differ + notCompared === 0 && failure === null)
    lines.push(
      gateway.authority === 'official'
        ? 'The authority, our rules and the simulator agree. Next: docs/certification.md.'
        : 'Our rules and the simulator agree. That says nothing about the authority: set\nECF_URL and ECF_API_KEY to a gateway without AUTHORITY_URL, and run it again.',
    );
  return `${lines.join('\n')}\n`;
}
