import { useTranslations } from 'use-intl';
import { useFormats } from '../../ui/format.js';

/** The parts of a document that the page shows; every value is text. */
interface Document {
  Encabezado?: { Totales?: Record<string, unknown> };
  DetallesItems?: { Item?: Line | Line[] };
}
interface Line {
  NumeroLinea?: string;
  NombreItem?: string;
  DescripcionItem?: string;
  CantidadItem?: string;
  PrecioUnitarioItem?: string;
  MontoItem?: string;
}

/** The lines and totals of a document. */
export function Lines({ document }: { document: unknown }) {
  const words = useTranslations('invoice');
  const { money, number } = useFormats();
  const { Encabezado, DetallesItems } = document as Document;
  const lines = [DetallesItems?.Item ?? []].flat();
  const totals = Encabezado?.Totales ?? {};
  const rows = [
    [words('taxed'), totals.MontoGravadoTotal],
    [words('exempt'), totals.MontoExento],
    [words('itbis'), totals.TotalITBIS],
    [words('total'), totals.MontoTotal],
  ] as const;
  return (
    <div className="wide">
      <table>
        <caption className="unseen">{words('lines')}</caption>
        <thead>
          <tr>
            <th scope="col">{words('item')}</th>
            <th scope="col" className="amount">
              {words('quantity')}
            </th>
            <th scope="col" className="amount">
              {words('price')}
            </th>
            <th scope="col" className="amount">
              {words('amount')}
            </th>
          </tr>
        </thead>
        <tbody>
          {lines.map((line, at) => (
            <tr key={line.NumeroLinea ?? at}>
              <th scope="row">
                {line.NombreItem}
                {line.DescripcionItem && <small>{line.DescripcionItem}</small>}
              </th>
              <td className="amount">{number(Number(line.CantidadItem ?? 1))}</td>
              <td className="amount">{money(line.PrecioUnitarioItem ?? 0)}</td>
              <td className="amount">{money(line.MontoItem ?? 0)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          {rows
            .filter(([, amount]) => amount !== undefined)
            .map(([name, amount]) => (
              <tr key={name}>
                <th scope="row" colSpan={3}>
                  {name}
                </th>
                <td className="amount">{money(String(amount))}</td>
              </tr>
            ))}
        </tfoot>
      </table>
    </div>
  );
}
