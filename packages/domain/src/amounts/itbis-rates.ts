import { Decimal } from './decimal.js';

/** The rates of ITBIS by IndicadorFacturacion, as a share of the taxed amount; the other indicators have none. */
export const ITBIS_RATES: Readonly<Record<'1' | '2', Decimal>> & { readonly [indicator: string]: Decimal | undefined } =
  {
    '1': Decimal.of('0.18'),
    '2': Decimal.of('0.16'),
  };
