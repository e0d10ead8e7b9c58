import type { Fault } from '@ecf/domain';
import type { Message } from './verdict.js';

/** Literal texts of messages. Sources: field reports; the sentences of code 0 are the official reasons (p.16, 19-20). */
export const TEXTS = {
  fileName: { code: '3243', text: 'La longitud del nombre del archivo no es válida' },
  format: { code: '1', text: 'El formato del XML no es válido' },
  signature: { code: '0', text: 'Certificado y/o firma inválida.' },
  delegation: {
    code: '0',
    text: 'Firmante del comprobante fiscal electrónico no corresponde a un delegado autorizado para hacer transacciones para el RNC Emisor.',
  },
  inactiveIssuer: { code: '0', text: 'El RNC Emisor no se encuentra activo.' },
  notElectronic: { code: '0', text: 'El RNC Emisor del comprobante no corresponde a un emisor electrónico.' },
  unauthorisedNumber: { code: '75', text: 'Número de secuencia no autorizada.' },
  expiryDate: { code: '145', text: 'Fecha de vencimiento de secuencia inválida.' },
  usedNumber: { code: '1209', text: 'Este número de secuencia ya ha sido utilizado.' },
  usedCombination: { code: '75', text: 'La combinación e-NCF y código de seguridad ya han sido utilizados' },
  tryAgain: { code: '004', text: 'Ha ocurrido un error validando en eCF, favor intentar nueva vez.' },
  unknownBuyer: {
    code: '1385',
    text: 'El campo RNCComprador del área Comprador de la sección Encabezado no es válido.',
  },
} as const satisfies Record<string, Message>;

/** Codes whose text does not follow the grammar of `fieldText`. */
const BY_CODE: Readonly<Record<string, string>> = {
  '64': '',
  '244': 'Este tipo de comprobante solo permite indicador de facturación exento',
  '294': 'El e-CF tipo 47 solo permite servicio',
  '613': 'Los comprobantes electrónicos no pueden reemplazarse entre ellos mismos.',
  '634': 'El valor del campo FechaNCFModificado no coincide con la fecha de emisión de comprobante a modificar',
  '1934':
    'El campo MontoGravadoI1 del área Totales de la sección Encabezado no coincide con la sumatoria de los valores del detalle gravado con tasa 18% menos descuentos mas recargos.',
  '3205':
    'El campo MontoTotal del área Totales de la sección Encabezado no es válido.El elemento MontoTotal no es correcto.',
  '11123': 'El campo MontoPeriodo no coincide con Monto Total + Monto no facturable',
};

/** The authority's words for a fault that the business rules found. */
export function ruleMessage(fault: Fault): Message {
  const code = fault.code ?? '0';
  const ending = code === '1381' ? 'es obligatorio.' : 'no es válido';
  return { code, text: BY_CODE[code] ?? fieldText(fault.path, ending) };
}

/**
 * `El campo {Tag} del área {Area} de la sección {Seccion} no es válido`, or with a line number for items.
 *
 * @param path `ECF.Encabezado.IdDoc.TipoIngresos`, `ECF.DetallesItems.Item[2].MontoItem`
 */
export function fieldText(path: string, ending: string): string {
  const [, section, area, ...rest] = path.split('.');
  if (section === undefined) return `El documento ${ending}`;
  if (area === undefined) return `El campo ${bare(section)} ${ending}`;
  const field = bare(rest.at(-1) ?? area);
  if (section === 'DetallesItems') {
    const line = /\[(\d+)\]/.exec(area)?.[1] ?? '1';
    return `El campo ${field} de la sección DetallesItems de la línea ${line} ${ending}`;
  }
  if (rest.length === 0) return `El campo ${field} de la sección ${bare(section)} ${ending}`;
  return `El campo ${field} del área ${bare(area)} de la sección ${bare(section)} ${ending}`;
}

function bare(step: string): string {
  return step.replace(/\[\d+\]$/, '');
}
