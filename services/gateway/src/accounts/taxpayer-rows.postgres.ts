import type { NumberRange } from '@ecf/contracts';
import { anyOf } from '@ecf/postgres';
import type { Kysely, Selectable } from 'kysely';
import type { Certificate, DB, Taxpayer } from '../generated/tables.js';
import type { StoredLogoFacts } from './ports.js';

/** A taxpayer, and whether its account is active. */
interface TaxpayerRow extends Selectable<Taxpayer> {
  accountActive: boolean;
}

/** A taxpayer with its certificate, the facts of its logo, and its ranges. */
export interface WholeTaxpayer extends TaxpayerRow {
  certificate: Selectable<Certificate> | null;
  logo: StoredLogoFacts | null;
  ranges: NumberRange[];
}

export function selectTaxpayers(db: Kysely<DB>) {
  return db
    .selectFrom('taxpayers')
    .innerJoin('accounts', 'accounts.id', 'taxpayers.accountId')
    .selectAll('taxpayers')
    .select('accounts.active as accountActive');
}

/** Adds certificates, facts of logos and ranges to taxpayers. */
export async function readParts(db: Kysely<DB>, taxpayers: readonly TaxpayerRow[]): Promise<WholeTaxpayer[]> {
  const whole = new Map<string, WholeTaxpayer>();
  for (const taxpayer of taxpayers) whole.set(taxpayer.rnc, { ...taxpayer, certificate: null, logo: null, ranges: [] });
  const rncs = anyOf([...whole.keys()]);
  for (const certificate of await db.selectFrom('certificates').selectAll().where('rnc', '=', rncs).execute()) {
    const taxpayer = whole.get(certificate.rnc);
    if (taxpayer !== undefined) taxpayer.certificate = certificate;
  }
  const logos = db.selectFrom('logos').select(['rnc', 'contentType', 'width', 'height', 'sha256']);
  for (const { rnc, ...logo } of await logos.where('rnc', '=', rncs).execute()) {
    const taxpayer = whole.get(rnc);
    if (taxpayer !== undefined) taxpayer.logo = logo;
  }
  for (const range of await db.selectFrom('numberRanges').selectAll().where('rnc', '=', rncs).orderBy('id').execute()) {
    const { rnc, env, ecfType: ecf_type, firstEncf: from, lastEncf: to, expires } = range;
    whole.get(rnc)?.ranges.push({ env, ecf_type, from, to, expires });
  }
  return [...whole.values()];
}
