import type { Environment } from '@ecf/domain';

/** Numbers the authority has authorised for a taxpayer. */
export interface NumberRange {
  /** Null: in every environment. */
  readonly env: Environment | null;
  /** Two digits, `31` to `47`. */
  readonly ecf_type: string;
  /** First and last sequence number, 1 to 9999999999. */
  readonly from: number;
  readonly to: number;
  /** `DD-MM-YYYY` as in documents; null if the type has none (32, 34). */
  readonly expires: string | null;
}

/** The authority's facts of a taxpayer. */
export interface Taxpayer {
  readonly rnc: string;
  readonly name: string;
  readonly active: boolean;
  /** Authorised to issue e-CF. */
  readonly electronic: boolean;
  /** Null: every number of every type is authorised. */
  readonly ranges: readonly NumberRange[] | null;
  /** Holder ids of the certificates that may act for the taxpayer; null: any. */
  readonly delegates: readonly string[] | null;
  /** Base addresses as the directory publishes them; null: not in the directory. */
  readonly reception_url: string | null;
  readonly approval_url: string | null;
  readonly authentication_url: string | null;
}

/** A registered taxpayer; omitted fields have the defaults of an unknown taxpayer. */
export type TaxpayerEntry = Pick<Taxpayer, 'rnc'> & Partial<Taxpayer>;
