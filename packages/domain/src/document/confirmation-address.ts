import { type Environment, environmentSegment } from '../authority/environment.js';
import { isEcfType } from '../identifiers.js';
import { submissionRoute } from '../submission-route.js';
import { type DocumentNode, groupOf, integerOf, textOf } from './document-tree.js';

/**
 * The address at which anybody confirms a document, the content of its QR code; always at the authority's own hosts.
 * `tree` is the signed e-CF (root `ECF`) or consumer summary (root `RFCE`); `securityCode` the first six characters of
 * the full document's SignatureValue. Values stand as in the XML. Throws RangeError when a needed value is missing.
 * Source: Informe Técnico e-CF rev. 23-03-2026 18.2.3; Descripción Técnica rev. 02-01-2026 pp.40-43.
 */
export function confirmationAddress({
  env,
  tree,
  securityCode,
}: {
  env: Environment;
  tree: DocumentNode;
  securityCode: string;
}): string {
  const header = groupOf(groupOf(tree, 'ECF') ?? groupOf(tree, 'RFCE'), 'Encabezado');
  const type = integerOf(groupOf(header, 'IdDoc'), 'TipoeCF');
  if (!isEcfType(type)) throw new RangeError(`TipoeCF ${type} is not a type of e-CF`);
  const issuer = ['RncEmisor', needed(groupOf(header, 'Emisor'), 'RNCEmisor')] as const;
  const encf = ['ENCF', needed(groupOf(header, 'IdDoc'), 'eNCF')] as const;
  const total = ['MontoTotal', needed(groupOf(header, 'Totales'), 'MontoTotal')] as const;
  const code = ['CodigoSeguridad', securityCode] as const;

  if (groupOf(tree, 'RFCE') || submissionRoute(type, total[1]) === 'rfce') {
    return address(`https://fc.dgii.gov.do/${environmentSegment(env)}/ConsultaTimbreFC`, [issuer, encf, total, code]);
  }
  const buyer = type === '43' || type === '47' ? null : textOf(groupOf(header, 'Comprador'), 'RNCComprador');
  return address(`https://ecf.dgii.gov.do/${environmentSegment(env)}/ConsultaTimbre`, [
    issuer,
    ...(buyer === null ? [] : [['RncComprador', buyer] as const]),
    encf,
    ['FechaEmision', needed(groupOf(header, 'Emisor'), 'FechaEmision')],
    total,
    ['FechaFirma', needed(groupOf(tree, 'ECF'), 'FechaHoraFirma')],
    code,
  ]);
}

function address(base: string, parameters: readonly (readonly [string, string])[]): string {
  return `${base}?${parameters.map(([name, value]) => `${name}=${encode(value)}`).join('&')}`;
}

/** Percent-encoded, colons literal as in the authority's printed example. */
function encode(value: string): string {
  return encodeURIComponent(value.trim()).replace(/%3A/g, ':');
}

function needed(group: DocumentNode | null, name: string): string {
  const value = textOf(group, name);
  if (value === null || value.trim() === '') throw new RangeError(`${name} is missing`);
  return value;
}
