/** The Spanish words of codes that an e-CF writes. Source: Formato Comprobante Fiscal Electrónico (e-CF) v1.0, October 2025. */

/** CodigoModificacion. */
export const MODIFICATIONS: Readonly<Record<string, string>> = {
  '1': 'Anula el NCF modificado',
  '2': 'Corrige Texto del Comprobante Fiscal modificado',
  '3': 'Corrige montos del NCF modificado',
  '4': 'Reemplazo NCF emitido en contingencia',
  '5': 'Referencia Factura Consumo Electrónica',
};

/** TipoPago. */
export const PAYMENT_CONDITIONS: Readonly<Record<string, string>> = { '1': 'Contado', '2': 'Crédito', '3': 'Gratuito' };

/** FormaPago. */
export const PAYMENT_FORMS: Readonly<Record<string, string>> = {
  '1': 'Efectivo',
  '2': 'Cheque, transferencia o depósito',
  '3': 'Tarjeta de débito o crédito',
  '4': 'Venta a crédito',
  '5': 'Bonos o certificados de regalo',
  '6': 'Permuta',
  '7': 'Nota de crédito',
  '8': 'Otras formas de pago',
};

/** ViaTransporte. */
export const TRANSPORT_MODES: Readonly<Record<string, string>> = { '01': 'Terrestre', '02': 'Marítima', '03': 'Aérea' };

/** UnidadMedida, from 1: table IV. */
const UNITS = [
  ...['Barril', 'Bolsa', 'Bote', 'Bultos', 'Botella', 'Caja', 'Cajetilla', 'Centímetro', 'Cilindro', 'Conjunto'],
  ...['Contenedor', 'Día', 'Docena', 'Fardo', 'Galones', 'Grado', 'Gramo', 'Granel', 'Hora', 'Huacal'],
  ...['Kilogramo', 'Kilovatio hora', 'Libra', 'Litro', 'Lote', 'Metro', 'Metro cuadrado', 'Metro cúbico'],
  ...['Millones de BTU', 'Minuto', 'Paquete', 'Par', 'Pie', 'Pieza', 'Rollo', 'Sobre', 'Segundo', 'Tanque'],
  ...['Tonelada', 'Tubo', 'Yarda', 'Yarda cuadrada', 'Unidad', 'Elemento', 'Millar', 'Saco', 'Lata', 'Display'],
  ...['Bidón', 'Ración', 'Quintal', 'Toneladas de registro bruto', 'Pie cuadrado', 'Pasajero', 'Pulgadas'],
  ...['Parqueo de barcos en muelle', 'Bandeja', 'Hectárea', 'Mililitro', 'Miligramo', 'Onzas', 'Onzas troy'],
];

/** The name of a unit code (UnidadMedida and the like); the code itself if table IV does not have it. */
export function unitName(code: string): string {
  return UNITS[Number(code) - 1] ?? code;
}

const DRINKS = [
  ...['Cerveza', 'Vinos de uva', 'Vermut y demás vinos de uvas frescas', 'Demás bebidas fermentadas'],
  ...['Alcohol etílico sin desnaturalizar (80 % o más)', 'Alcohol etílico sin desnaturalizar (menos de 80 %)'],
  ...['Aguardientes de uva', 'Whisky', 'Ron y demás aguardientes de caña', 'Gin y ginebra', 'Vodka', 'Licores'],
  ...['Las demás bebidas y alcoholes', 'Cigarrillos con tabaco, 20 unidades', 'Los demás cigarrillos, 20 unidades'],
  ...['Cigarrillos con tabaco, 10 unidades', 'Los demás cigarrillos, 10 unidades'],
];

/** The name of an additional tax (TipoImpuesto, table I); its code if the table does not have it. */
export function taxName(code: string): string {
  const number = Number(code);
  const others = ['Propina legal', 'CDT', 'ISC seguros', 'ISC telecomunicaciones', 'Primera placa'];
  if (number <= 5) return others[number - 1] ?? code;
  if (number <= 22) return `ISC específico, ${DRINKS[number - 6]}`;
  if (number <= 39) return `ISC ad valorem, ${DRINKS[number - 23]}`;
  return code;
}
