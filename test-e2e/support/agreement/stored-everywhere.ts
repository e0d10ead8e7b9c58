import { createHash } from 'node:crypto';
import { openXmlStore, readArchiveSettings } from '@ecf/archive';
import { ARCHIVING_SERVICES, SERVICE_NAMES, type ServiceName } from '@ecf/contracts';
import { EMISSION_STATES, type EmissionState, type SubmissionRoute } from '@ecf/domain';
import type { Database } from '@ecf/postgres';
import { embeddedDatabase } from '../deployment/embedded-database.js';

/** The fields that identify a document in every table. */
interface Document {
  env: string;
  issuer_rnc: string;
  encf: string;
}

export interface Emitted extends Document {
  ecf_type: string;
  buyer_rnc: string | null;
  revision: number;
  state: EmissionState;
  route: SubmissionRoute;
  track_id: string | null;
  total: string;
  xml_path: string;
  xml_sha256: string;
  rfce_path: string | null;
  rfce_sha256: string | null;
}

export interface ReadModel extends Document {
  revision: number;
  listed: boolean;
  settled: boolean;
  status: string;
  route: string;
  track_id: string | null;
  total: string;
  xml_path: string;
  xml_checksum: string;
  rfce_path: string | null;
  rfce_checksum: string | null;
}

export interface Polled extends Document {
  track_id: string;
  status: string;
  final: boolean;
}

export type Delivered = Document & { revision: number; status: string };
export type Received = Document & { buyer_rnc: string; revision: number; xml_path: string; sha256: string };
/** Documents of a type and status, and the sum of their amounts. */
export type Sum = { ecf_type: string; status: string; count: number; amount: string };
/** Accepted documents of a buyer (empty for those without) in a day or month of creation or issue, and their sum. */
export type BuyerSum = {
  env: string;
  issuer_rnc: string;
  period: string;
  grain: string;
  bucket: string;
  buyer_rnc: string;
  count: number;
  amount: string;
};

export const keyOf = ({ env, issuer_rnc, encf }: Document) => `${env}:${issuer_rnc}:${encf}`;
export const statusOf = (state: EmissionState) => EMISSION_STATES[state].status;

/** Reads the tables of all services of a deployment directly, so reading changes nothing. */
export class StoredEverywhere {
  readonly #databases = new Map<ServiceName, Database>();

  constructor(
    private readonly dataDir: string,
    /** Settings of the deployment; they name the archive. */
    private readonly settings: Record<string, string | undefined>,
    private readonly connect: (service: string) => Database = (service) => embeddedDatabase(dataDir, service),
  ) {}

  async #rows<T extends object>(service: ServiceName, sql: string): Promise<T[]> {
    const database = this.#databases.get(service) ?? this.connect(service);
    this.#databases.set(service, database);
    return (await database.query<T>(sql)).rows;
  }

  /** For each service: undecided documents, open polls, unpublished events and documents that are not archived. */
  async openWork(): Promise<Record<string, number>> {
    const count = async (service: ServiceName, what: string) =>
      (await this.#rows<{ count: number }>(service, `SELECT count(*)::int AS count FROM ${what}`))[0]?.count ?? 0;
    const decided = Object.entries(EMISSION_STATES).flatMap(([state, facts]) => (facts.decided ? [`'${state}'`] : []));
    const work: Record<string, number> = {
      undecided: await count('emission', `attempt WHERE state NOT IN (${decided})`),
      polls: await count('status-poller', 'poll'),
    };
    for (const service of SERVICE_NAMES)
      if (service !== 'query') work[`outbox of ${service}`] = await count(service, 'outbox');
    for (const service of ARCHIVING_SERVICES)
      work[`pending documents of ${service}`] = await count(service, 'pending_document');
    return work;
  }

  emitted = () =>
    this.#rows<Emitted>(
      'emission',
      `SELECT e.env, e.issuer_rnc, e.encf, e.ecf_type, a.facts->'summary'->>'buyer_rnc' AS buyer_rnc, a.revision, a.state, a.route,
        a.track_id, a.facts->'summary'->>'total_amount' AS total, a.xml_path, a.xml_sha256, a.rfce_path, a.rfce_sha256
       FROM emission e JOIN attempt a ON a.emission_id = e.id AND a.attempt = e.attempt`,
    );

  readModels = () =>
    this.#rows<ReadModel>(
      'query',
      `SELECT env, issuer_rnc, encf, revision, listed, settled, status, route, track_id, total_amount::text AS total, xml_path,
        xml_checksum, rfce_path, rfce_checksum FROM invoice`,
    );

  polled = () =>
    this.#rows<Polled>(
      'status-poller',
      `SELECT env, issuer_rnc, encf, track_id, facts->>'status' AS status, final FROM submission`,
    );

  delivered = (service: 'approvals' | 'query') =>
    this.#rows<Delivered>(
      service,
      `SELECT env, issuer_rnc, encf, revision::int, status
       FROM ${service === 'query' ? 'delivery' : "outgoing_documents WHERE kind = 'delivery'"}`,
    );

  received = (service: 'reception' | 'query') =>
    this.#rows<Received>(
      service,
      service === 'query'
        ? 'SELECT env, issuer_rnc, encf, buyer_rnc, revision, xml_path, xml_checksum AS sha256 FROM received_invoice'
        : 'SELECT env, issuer_rnc, encf, buyer_rnc, revision, xml_path, xml_sha256 AS sha256 FROM received_documents',
    );

  sums = (from: 'rollups' | 'documents') =>
    this.#rows<Sum>(
      'query',
      from === 'rollups'
        ? `SELECT ecf_type, status, sum(count)::int AS count, round(sum(amount), 2)::text AS amount FROM invoice_rollup
           WHERE period = 'created' AND count > 0 GROUP BY 1, 2 ORDER BY 1, 2`
        : `SELECT ecf_type, status, count(*)::int AS count,
             round(sum(CASE ecf_type WHEN '34' THEN -total_amount ELSE total_amount END), 2)::text AS amount
           FROM invoice WHERE listed GROUP BY 1, 2 ORDER BY 1, 2`,
    );

  /** By buyer, and by day and month of creation and of issue. */
  buyers = (from: 'rollups' | 'documents') =>
    this.#rows<BuyerSum>(
      'query',
      from === 'rollups'
        ? `SELECT env, issuer_rnc, period, grain, bucket::text, buyer_rnc, count::int, round(amount, 2)::text AS amount
           FROM buyer_rollup WHERE count <> 0 ORDER BY 1, 2, 3, 4, 5, 6`
        : `SELECT env, issuer_rnc, period, grain, date_trunc(grain, day)::date::text AS bucket,
             coalesce(buyer_rnc, '') AS buyer_rnc, count(*)::int AS count,
             round(sum(CASE ecf_type WHEN '34' THEN -total_amount ELSE total_amount END), 2)::text AS amount
           FROM invoice CROSS JOIN (VALUES ('day'), ('month')) AS grains(grain)
           CROSS JOIN LATERAL (VALUES ('created', (created_at AT TIME ZONE 'UTC' - interval '4 hours')::date),
             ('issued', date_issued)) AS days(period, day)
           WHERE listed AND status IN ('Aceptado', 'AceptadoCondicional') GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6`,
    );

  /** The SHA-256 of each archived object (files, or the bucket of the settings) by its path. */
  async archived(): Promise<Map<string, string>> {
    const archive = openXmlStore(readArchiveSettings({ ...this.settings, DATA_DIR: this.dataDir }));
    const sums = new Map<string, string>();
    for await (const { path } of archive.list())
      sums.set(
        path,
        createHash('sha256')
          .update(await archive.get(path))
          .digest('hex'),
      );
    return sums;
  }

  async close(): Promise<void> {
    for (const database of this.#databases.values()) await database.close();
  }
}
