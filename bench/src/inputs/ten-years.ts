import { type Database, firstIdOf } from '@ecf/postgres';

/** Issuers that share the documents which the large issuer does not have. */
const SMALL_ISSUERS = 2_000;
/** Documents of the large issuer to each of its buyers. */
const PER_BUYER = 150;

/** Documents that are spread evenly over time until yesterday: every second one belongs to one large issuer. */
export interface Spread {
  /** The first day of the first month, not before 2020, when ids begin. */
  readonly from: Date;
  readonly rows: number;
  /** The issuer that has half of the documents. */
  readonly issuer: string;
  /** Its account. */
  readonly account: string;
}

/** A document of the large issuer, as callers name it. */
export interface KnownDocument {
  readonly encf: string;
  readonly track_id: string;
  readonly reference: string;
}

/** SQL for the documents whose numbers, from 1 to `rows`, are in `source`. */
export function documents({ from, rows, issuer, account }: Spread, source: string): string {
  const stepUs = Math.floor(((today() - from.getTime()) * 1_000) / rows);
  const buyers = Math.ceil(rows / 2 / PER_BUYER);
  return `(SELECT *, (${firstIdOf(`created AT TIME ZONE 'UTC'`)}) + k AS id, 'E' || type || lpad(n::text, 10, '0') AS encf,
      CASE type WHEN '32' THEN 'rfce' ELSE 'ecf' END AS route, md5('track ' || k)::uuid::text AS track_id, 'PED-' || k AS reference,
      encode(sha256(k::text::bytea), 'hex') AS sha256, 'TesteCF/ecf/' || issuer || to_char(created, '"/issued/"YYYY/MM/') || issuer
        || 'E' || type || lpad(n::text, 10, '0') || '-' || substr(md5(k::text), 1, 12) || '.xml' AS path,
      CASE type WHEN '32' THEN NULL ELSE (100000000 + n * 7919 % ${buyers})::text END AS buyer_rnc,
      (n * 104729 % 5000000 / 100.0)::numeric(20, 2) AS amount
    FROM (SELECT k, n, CASE WHEN n % 20 = 3 THEN '34' WHEN n % 4 = 1 THEN '32' ELSE '31' END AS type,
        CASE WHEN k % 2 = 1 THEN '${issuer}' ELSE (100000000 + k / 2 % ${SMALL_ISSUERS})::text END AS issuer,
        CASE WHEN k % 2 = 1 THEN '${account}' ELSE 'account-' || k / 2 % ${SMALL_ISSUERS} END AS account,
        timestamptz '${from.toISOString()}' + k * interval '${stepUs} microseconds' AS created
      FROM (SELECT k, CASE WHEN k % 2 = 1 THEN k / 2 ELSE k / 2 / ${SMALL_ISSUERS} END + 100 AS n FROM ${source} AS s(k)) AS counted
    ) AS placed) AS d`;
}

/** A month, its name (`2020_01`), and the numbers of its documents. */
export interface Month {
  readonly name: string;
  readonly from: string;
  readonly until: string;
  readonly first: number;
  readonly last: number;
}

/** The months of the documents, or the first `count` of them. */
export function months({ from, rows }: Spread, count = Number.POSITIVE_INFINITY): Month[] {
  const stepMs = Math.floor(((today() - from.getTime()) * 1_000) / rows) / 1_000;
  const lastBefore = (time: number) => Math.min(rows, Math.ceil((time - from.getTime()) / stepMs) - 1);
  const start = (month: number) => Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + month);
  const found: Month[] = [];
  for (let month = 0; count === Number.POSITIVE_INFINITY ? start(month) < today() : month < count; month += 1) {
    const [begin, end] = [start(month), start(month + 1)];
    const name = dayOf(begin).slice(0, 7).replace('-', '_');
    const first = Math.max(1, lastBefore(begin) + 1);
    found.push({ name, from: dayOf(begin), until: dayOf(end), first, last: lastBefore(end) });
  }
  return found;
}

/** SQL for the numbers of the documents of the last days. */
export function lastDays({ from, rows }: Spread, days: number): string {
  const ofDays = Math.ceil((rows * days * 86_400_000) / (today() - from.getTime()));
  return `generate_series(${Math.max(1, rows - ofDays)}::bigint, ${rows})`;
}

/** SQL that writes copies of a stored row for documents; `own` has the columns in which a copy differs, with their expressions. */
export async function copies(
  database: Database,
  table: string,
  template: string,
  source: string,
  own: Readonly<Record<string, string>>,
): Promise<string> {
  const { rows } = await database.query<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    [table],
  );
  const names = rows.map(({ name }) => name);
  return `INSERT INTO ${table} (${names.join(', ')}) SELECT ${names.map((name) => own[name] ?? `t.${name}`).join(', ')}
    FROM ${source} CROSS JOIN (SELECT * FROM ${table} WHERE ${template}) AS t`;
}

/** Random documents of the large issuer; `every` as in {@link fillEmission}. */
export async function someDocuments(
  database: Database,
  spread: Spread,
  count: number,
  every: number,
): Promise<KnownDocument[]> {
  const pairs = Math.floor(spread.rows / 2 / every);
  const numbers = Array.from({ length: count }, () => Math.floor(Math.random() * pairs) * every * 2 + 1);
  return (
    await database.query<KnownDocument>(
      `SELECT encf, track_id, reference FROM ${documents(spread, 'unnest($1::bigint[])')}`,
      [numbers],
    )
  ).rows;
}

/** The last number that the large issuer has used, without the letter and the type. */
export function lastNumber({ rows }: Spread): number {
  return Math.ceil(rows / 2) + 100;
}

function today(): number {
  return Math.floor(Date.now() / 86_400_000) * 86_400_000;
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
