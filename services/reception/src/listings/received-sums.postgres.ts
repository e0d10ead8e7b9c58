import type { Period } from '@ecf/contracts';
import type { Queries } from '@ecf/postgres';
import type { ReceivedSums } from './ports.js';

/** Credit notes count with a negative sign. */
const SIGN = `CASE ecf_type WHEN '34' THEN -1 ELSE 1 END`;
const money = (column: string) => `round(coalesce(sum(${SIGN} * ${column}), 0), 2)::text`;
const SUMS = `count(*) AS count, ${money('total_amount')} AS total_amount`;
const WITH_ITBIS = `${SUMS}, ${money('total_itbis')} AS total_itbis`;
/** Months of the receipt in Dominican time, whose offset is fixed, or of the issue. */
const MONTHS: Readonly<Record<Period, string>> = {
  created: `to_char(received_at AT TIME ZONE INTERVAL '-04:00', 'YYYY-MM')`,
  issued: `to_char(date_issued, 'YYYY-MM')`,
};

interface SumsRow {
  month: string | null;
  ecf_type: ReceivedSums['by_type'][number]['ecf_type'] | null;
  approval_status: ReceivedSums['by_status'][number]['status'] | null;
  count: number;
  total_amount: string;
  total_itbis: string;
}

/**
 * Sums of received documents: of all, by month, type and status, and of the providers with the highest sums. `where` is a
 * condition on `received_documents d` with its values.
 */
export async function sumReceived(
  queries: Queries,
  { where, values }: { where: string; values: readonly unknown[] },
  period: Period,
  topProviders: number,
): Promise<ReceivedSums> {
  const sums = await queries.query<SumsRow>(
    `SELECT month, ecf_type, approval_status, ${WITH_ITBIS}
       FROM (SELECT *, ${MONTHS[period]} AS month FROM received_documents d WHERE ${where}) d
      GROUP BY GROUPING SETS ((), (month), (ecf_type), (approval_status))
      ORDER BY month, ecf_type, approval_status`,
    [...values],
  );
  const providers = await queries.query<ReceivedSums['top_providers'][number]>(
    `SELECT issuer_rnc AS provider_rnc, (array_agg(issuer_name ORDER BY received_at DESC))[1] AS provider_name, ${SUMS}
       FROM received_documents d WHERE ${where}
      GROUP BY issuer_rnc ORDER BY sum(${SIGN} * total_amount) DESC, issuer_rnc LIMIT $${values.length + 1}`,
    [...values, topProviders],
  );
  const total = sums.rows.find((row) => row.month === null && row.ecf_type === null && row.approval_status === null);
  return {
    total_invoices: total?.count ?? 0,
    counted: total?.count ?? 0,
    total_amount: total?.total_amount ?? '0.00',
    total_itbis: total?.total_itbis ?? '0.00',
    by_month: sums.rows.flatMap(({ month, count, total_amount, total_itbis }) =>
      month === null ? [] : [{ month, count, total_amount, total_itbis }],
    ),
    by_type: sums.rows.flatMap(({ ecf_type, count, total_amount, total_itbis }) =>
      ecf_type === null ? [] : [{ ecf_type, count, total_amount, total_itbis }],
    ),
    by_status: sums.rows.flatMap(({ approval_status: status, count, total_amount }) =>
      status === null ? [] : [{ status, count, total_amount }],
    ),
    top_providers: providers.rows,
  };
}
