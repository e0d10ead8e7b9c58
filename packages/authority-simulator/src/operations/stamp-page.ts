import { Decimal, type Environment } from '@ecf/domain';
import { escapeXml, type Handler, type Query, textAnswer } from '../http/call.js';
import type { DocumentFacts } from '../ledger/document-facts.js';
import type { Submission } from '../ledger/submission.js';
import type { Simulation } from '../simulation.js';
import { isAccepted } from '../verdicts/verdict.js';
import { latestDecided } from './queries.js';

type Pages = Pick<Simulation, 'ledger' | 'facts' | 'clock'>;

const NOT_FOUND = 'No fue encontrada la factura (e-CF)';

/** The page behind the QR code of an e-CF: public, HTML. Every parameter of the address has to fit the document. */
export function stampPage(pages: Pages): Handler {
  return ({ env, query }) => {
    const found = find(pages, env, query, 'recepcion');
    if (!found || !fitsDocument(query, found.facts)) return page([NOT_FOUND]);
    const { submission, facts } = found;
    return page([
      `RNC Emisor: ${submission.rnc}`,
      `Razón social emisor: ${facts.issuerName ?? ''}`,
      `RNC Comprador: ${facts.buyer ?? facts.foreignBuyer ?? ''}`,
      `Razón social comprador: ${facts.buyerName ?? ''}`,
      `e-NCF: ${submission.encf}`,
      `Fecha de emisión: ${facts.issueDate ?? ''}`,
      `Total de ITBIS: ${facts.itbis}`,
      `Monto Total: ${facts.total}`,
      `Estado: ${stateOf(submission)}`,
    ]);
  };
}

/** The page behind the QR code of a consumer invoice that was reported by its summary. */
export function consumerStampPage(pages: Pages): Handler {
  return ({ env, query }) => {
    const found = find(pages, env, query, 'recepcionfc');
    if (!found) return page([NOT_FOUND]);
    return page([
      `RNC Emisor: ${found.submission.rnc}`,
      `Razón social emisor: ${found.facts.issuerName ?? ''}`,
      `e-NCF: ${found.submission.encf}`,
      `Estado: ${stateOf(found.submission)}`,
    ]);
  };
}

function find(
  pages: Pages,
  env: Environment,
  query: Query,
  operation: Submission['operation'],
): { submission: Submission; facts: DocumentFacts } | null {
  const rnc = query.get('rncemisor');
  const encf = query.get('encf')?.toUpperCase() ?? null;
  const submission = rnc === null || encf === null ? null : latestDecided(pages, env, rnc, encf);
  if (!submission || submission.operation !== operation) return null;
  const facts = pages.facts.of(submission);
  const total = Decimal.parse(query.get('montototal') ?? '');
  const fits =
    facts.securityCode === query.get('codigoseguridad') &&
    total !== null &&
    total.equals(Decimal.parse(facts.total) ?? Decimal.ZERO);
  return fits ? { submission, facts } : null;
}

function fitsDocument(query: Query, facts: DocumentFacts): boolean {
  return (
    query.get('fechaemision') === facts.issueDate &&
    query.get('fechafirma') === facts.signedAt &&
    query.get('rnccomprador') === facts.buyer
  );
}

/** A conditional acceptance shows as an acceptance. */
function stateOf({ verdict }: Submission): string {
  return isAccepted(verdict) ? 'Aceptado' : verdict.status;
}

function page(lines: readonly string[]) {
  const rows = lines.map((line) => `<p>${escapeXml(line)}</p>`).join('\n');
  const html = `<!DOCTYPE html>
<html lang="es"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Consulta de timbre</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:2rem auto;padding:0 1.5rem}p{margin:0;padding:.4rem 0;border-bottom:1px solid #ddd}</style></head>
<body>
<h1>Consulta de timbre</h1>
${rows}
</body></html>
`;
  return textAnswer(200, html, 'text/html; charset=utf-8');
}
