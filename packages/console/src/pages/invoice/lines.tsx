import type { DocumentNode } from '@ecf/domain';
import { useTranslations } from 'use-intl';
import { useFormats } from '../../ui/format.js';
import { type Column, Table } from '../../ui/table.js';
import { Totals } from '../../ui/totals.js';

/** The parts of a document that the page shows; every value is text. */
interface Document {
  Encabezado?: { Totales?: DocumentNode; OtraMoneda?: OtherCurrency };
  DetallesItems?: { Item?: Line | Line[] };
}
interface OtherCurrency {
  TipoMoneda?: string;
  TipoCambio?: string;
  MontoTotalOtraMoneda?: string;
}
interface Line {
  NumeroLinea?: string;
  NombreItem?: string;
  DescripcionItem?: string;
  IndicadorFacturacion?: '0' | '1' | '2' | '3' | '4';
  CantidadItem?: string;
  PrecioUnitarioItem?: string;
  DescuentoMonto?: string;
  MontoItem?: string;
  Retencion?: { MontoITBISRetenido?: string; MontoISRRetenido?: string };
}

/** The lines and totals of a document. */
export function Lines({ document }: { document: unknown }) {
  const words = useTranslations('invoice');
  const rates = useTranslations('newInvoice.rateOf');
  const { money, number } = useFormats();
  const { Encabezado, DetallesItems } = document as Document;
  const columns: Column<Line>[] = [
    { head: words('item'), cell: (line) => <Described line={line} /> },
    { head: words('quantity'), amount: true, cell: ({ CantidadItem = 1 }) => number(Number(CantidadItem)) },
    { head: words('price'), amount: true, cell: ({ PrecioUnitarioItem = 0 }) => money(PrecioUnitarioItem) },
    { head: words('rate'), amount: true, cell: ({ IndicadorFacturacion: rate }) => rate && rates(rate) },
    { head: words('amount'), amount: true, cell: ({ MontoItem = 0 }) => money(MontoItem) },
  ];
  const lines = [DetallesItems?.Item ?? []].flat();
  return (
    <>
      <Table
        caption={words('lines')}
        columns={columns}
        rows={lines}
        rowKey={(line) => line.NumeroLinea ?? String(lines.indexOf(line))}
      />
      <Totals totals={Encabezado?.Totales ?? {}} />
      {Encabezado?.OtraMoneda && <InCurrency currency={Encabezado.OtraMoneda} />}
    </>
  );
}

function Described({ line: { NombreItem, DescripcionItem, DescuentoMonto, Retencion } }: { line: Line }) {
  const words = useTranslations('invoice');
  const { money } = useFormats();
  const withheld = [Retencion?.MontoITBISRetenido, Retencion?.MontoISRRetenido].filter((amount) => Number(amount) > 0);
  return (
    <span dir="auto">
      {NombreItem}
      {DescripcionItem && <small dir="auto">{DescripcionItem}</small>}
      {Number(DescuentoMonto) > 0 && <small>{words('discounted', { amount: money(DescuentoMonto ?? 0) })}</small>}
      {withheld.map((amount) => (
        <small key={amount}>{words('withheld', { amount: money(amount ?? 0) })}</small>
      ))}
    </span>
  );
}

function InCurrency({ currency: { TipoMoneda, TipoCambio, MontoTotalOtraMoneda } }: { currency: OtherCurrency }) {
  const words = useTranslations('invoice');
  const { number } = useFormats();
  if (MontoTotalOtraMoneda === undefined) return null;
  return (
    <dl className="totals">
      <div>
        <dt>{words('inCurrency', { currency: TipoMoneda ?? '', rate: TipoCambio ?? '' })}</dt>
        <dd>{number(Number(MontoTotalOtraMoneda))}</dd>
      </div>
    </dl>
  );
}
