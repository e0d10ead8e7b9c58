import { ADDITIONAL_TAXES, CURRENCIES, PROVINCES_AND_MUNICIPALITIES, UNITS } from './code-lists.js';

/** A simple type: its base and what restricts it, with the meaning XML Schema gives each facet. */
export interface SimpleType {
  base: 'string' | 'integer' | 'decimal' | 'dateTime';
  enumeration?: readonly string[];
  minLength?: number;
  maxLength?: number;
  /** An XML Schema regular expression; the whole value must match. */
  pattern?: string;
  minInclusive?: string;
  minExclusive?: string;
  maxInclusive?: string;
  totalDigits?: number;
  fractionDigits?: number;
  /** The pattern as libxml2 misreads it (docs/authority-divergences.md). */
  readAs?: string;
  /** The pattern for JSON Schemas, where it has `\w`: it refuses the same ASCII characters, and no others. */
  portable?: string;
  /** A description of the value, if the facets do not say it themselves. */
  says?: string;
}

/**
 * The simple types under the names the authority's XSDs give them. Where one name means different things in different
 * documents, the exceptions are listed under `name@types or documents`. Source: the authority's XSD of each document.
 */
export const SIMPLE_TYPES: Readonly<Record<string, SimpleType>> = {
  // Texts, bounded by length
  AlfNum7Type: { base: 'string', minLength: 1, maxLength: 7 },
  AlfNum10Type: { base: 'string', minLength: 1, maxLength: 10 },
  AlfNum14Type: { base: 'string', minLength: 1, maxLength: 14 },
  AlfNum11a19ValidationType: { base: 'string', minLength: 11, maxLength: 19 },
  AlfNum20Type: { base: 'string', minLength: 1, maxLength: 20 },
  AlfNum25Type: { base: 'string', minLength: 1, maxLength: 25 },
  NumeroCuentaPagoType: { base: 'string', minLength: 1, maxLength: 28 },
  AlfNum35Type: { base: 'string', minLength: 1, maxLength: 35 },
  AlfNum40Type: { base: 'string', minLength: 1, maxLength: 40 },
  AlfNum45Type: { base: 'string', minLength: 1, maxLength: 45 },
  AlfNum50Type: { base: 'string', minLength: 1, maxLength: 50 },
  AlfNum60Type: { base: 'string', minLength: 1, maxLength: 60 },
  BancoPagoType: { base: 'string', minLength: 1, maxLength: 75 },
  AlfNum80Type: { base: 'string', minLength: 1, maxLength: 80 },
  AlfNum90ValidationType: { base: 'string', minLength: 1, maxLength: 90 },
  AlfNum100Type: { base: 'string', minLength: 1, maxLength: 100 },
  AlfNum150Type: { base: 'string', minLength: 1, maxLength: 150 },
  AlfNum250Type: { base: 'string', minLength: 1, maxLength: 250 },
  AlfNum1000Type: { base: 'string', minLength: 1, maxLength: 1000 },

  // Texts with a format
  eNCFValidationType: {
    base: 'string',
    minLength: 13,
    maxLength: 13,
    pattern: '([a-z0-9A-Z]{13})',
    says: '13 letters or digits: E, the type and ten digits of the sequence',
  },
  FechaValidationType: {
    base: 'string',
    pattern: String.raw`(3[01]|[12][0-9]|0?[1-9])\-(1[012]|0?[1-9])\-((19|20)\d{2})`,
    says: 'a date as DD-MM-YYYY',
  },
  TerminoPagoValidationType: {
    base: 'string',
    pattern: String.raw`[\s\d\w]{1,15}`,
    portable: String.raw`[^!-#%-*,-/:;?@\[-\]_{}]{1,15}`,
    says: '1 to 15 letters, digits and blanks, no punctuation',
  },
  RNCValidationType: {
    base: 'string',
    pattern: '[0-9]{11}|[0-9]{9}',
    readAs: '[0-9]{11}|[0-9]{9}|[0-9]{19}',
    says: '9 or 11 digits, no dashes',
  },
  TelefonoValidationType: {
    base: 'string',
    maxLength: 12,
    pattern: String.raw`\d{3}-\d{3}-\d{4}`,
    says: 'a telephone number as 809-555-1234',
  },
  // The XSD writes [-+.] in the first group; there `+` is a \w already, so this is the same language without ambiguity.
  CorreoValidationType: {
    base: 'string',
    maxLength: 80,
    pattern: String.raw`\w+([-.]\w+)*@\w+(-\w+)*\.\w+([-.]\w+)*`,
    portable: String.raw`[^\s!-#%-*,-/:;?@\[-\]_{}]+([-.][^\s!-#%-*,-/:;?@\[-\]_{}]+)*@[^\s!-#%-*,-/:;?@\[-\]_{}]+(-[^\s!-#%-*,-/:;?@\[-\]_{}]+)*\.[^\s!-#%-*,-/:;?@\[-\]_{}]+([-.][^\s!-#%-*,-/:;?@\[-\]_{}]+)*`,
    says: 'an e-mail address of at most 80 characters, without underscores',
  },
  // In 33 and 34 the XSD wraps this in ^ and $, meant as anchors (docs/authority-divergences.md).
  Alfa20Type: {
    base: 'string',
    maxLength: 20,
    pattern: String.raw`[a-zA-ZñÑáéíóúÁÉÍÓÚ,\s]*`,
    says: 'at most 20 letters, commas and blanks',
  },
  DateTimeValidationType: {
    base: 'string',
    maxLength: 19,
    pattern: String.raw`(3[01]|[12][0-9]|0[1-9])-(1[0-2]|0[1-9])-((19|20)\d{2}) (2[0-3]|[01]?[0-9]):([0-5]?[0-9]):([0-5]?[0-9])`,
    says: 'date and time as DD-MM-YYYY HH:MM:SS',
  },
  Alfa60Type: {
    base: 'string',
    maxLength: 60,
    pattern: String.raw`(\D[^0-9]+[a-zA-ZñÑáéíóúÁÉÍÓÚ])`,
    says: '3 to 60 characters without digits, the last one a letter',
  },
  'Alfa60Type@47': {
    base: 'string',
    maxLength: 60,
    pattern: String.raw`[a-zA-ZñÑáéíóúÁÉÍÓÚ,\s]*`,
    says: 'at most 60 letters, commas and blanks',
  },
  Alfa3Type: {
    base: 'string',
    maxLength: 3,
    pattern: String.raw`\D[^0-9]+[a-zA-ZñÑáéíóúÁÉÍÓÚ]`,
    says: '3 characters without digits, the last one a letter',
  },
  Alfa35Type: {
    base: 'string',
    maxLength: 35,
    pattern: String.raw`(\D[^0-9]+[a-zA-ZñÑáéíóúÁÉÍÓÚ])`,
    says: '3 to 35 characters without digits, the last one a letter',
  },

  // Codes
  versionType: { base: 'decimal', enumeration: ['1.0'] },
  TipoeCFType: { base: 'integer', enumeration: ['31', '32', '33', '34', '41', '43', '44', '45', '46', '47'] },
  IndicadorEnvioDiferidoType: { base: 'integer', enumeration: ['1'] },
  IndicadorMontoGravadoType: { base: 'integer', enumeration: ['0', '1'] },
  IndicadorServicioTodoIncluidoType: { base: 'integer', enumeration: ['1'] },
  TipoIngresosValidationType: {
    base: 'string',
    enumeration: ['01', '02', '03', '04', '05', '06'],
    pattern: '[0]{1}[1-6]{1}',
  },
  'TipoIngresosValidationType@31,32': { base: 'string', enumeration: ['01', '02', '03', '04', '05', '06'] },
  'TipoIngresosValidationType@45': {
    base: 'integer',
    enumeration: ['01', '02', '03', '04', '05', '06'],
    pattern: '[0]{1}[1-6]{1}',
  },
  TipoPagoType: { base: 'integer', enumeration: ['1', '2', '3'] },
  FormaPagoType: { base: 'integer', enumeration: ['1', '2', '3', '4', '5', '6', '7', '8'] },
  TipoCuentaPagoType: { base: 'string', enumeration: ['CT', 'AH', 'OT'] },
  ProvinciaMunicipioType: { base: 'string', enumeration: PROVINCES_AND_MUNICIPALITIES },
  UnidadMedidaType: { base: 'integer', enumeration: UNITS },
  'UnidadMedidaType@33,44': { base: 'string', enumeration: UNITS },
  CodificacionTipoImpuestosType: { base: 'string', enumeration: ADDITIONAL_TAXES },
  TipoMonedaType: { base: 'string', enumeration: CURRENCIES },
  IndicadorFacturacionType: { base: 'integer', enumeration: ['0', '1', '2', '3', '4'] },
  IndicadorAgenteRetencionoPercepcionType: { base: 'integer', enumeration: ['1', '2'] },
  IndicadorBienoServicioType: { base: 'integer', enumeration: ['1', '2'] },
  TipoDescuentoRecargoType: { base: 'string', enumeration: ['$', '%'] },
  TipoAjusteType: { base: 'string', enumeration: ['D', 'R'] },
  IndicadorNorma1007Type: { base: 'integer', enumeration: ['0', '1'] },
  IndicadorFacturacionDRType: { base: 'integer', enumeration: ['1', '2', '3', '4'] },
  CodigoModificacionType: { base: 'integer', enumeration: ['1', '2', '3', '4', '5'] },
  TipoAfiliacionType: { base: 'integer', enumeration: ['1', '2'] },
  LiquidacionType: { base: 'integer', enumeration: ['1', '2'] },
  ViaTransporteType: { base: 'string', enumeration: ['01', '02', '03'] },

  // Whole numbers
  Integer4ValidationTypeMayorUno: { base: 'integer', pattern: '[0-9]{1,4}', minExclusive: '1', totalDigits: 4 },
  Integer20ValidationType: { base: 'integer', pattern: '[0-9]{1,20}', totalDigits: 20 },
  Integer2ValidationType: { base: 'integer', pattern: '[0-9]{1,2}', totalDigits: 2 },
  NumeroLineaType: { base: 'integer', pattern: '[0-9]{0,4}', minInclusive: '1', maxInclusive: '1000', totalDigits: 4 },
  'NumeroLineaType@33,34': {
    base: 'integer',
    pattern: '[0-9]{1,5}',
    minInclusive: '1',
    maxInclusive: '10000',
    totalDigits: 5,
  },
  Integer4V1To1000ValidationType: {
    base: 'integer',
    pattern: '[0-9]{1,4}',
    minInclusive: '1',
    maxInclusive: '1000',
    totalDigits: 4,
  },
  Integer5ValidationTypeMayorUno: { base: 'integer', pattern: '[0-9]{1,5}', minExclusive: '1', totalDigits: 5 },
  Integer5V1To10000ValidationType: {
    base: 'integer',
    pattern: '[0-9]{1,5}',
    minInclusive: '1',
    maxInclusive: '10000',
    totalDigits: 5,
  },
  IndicadorNotaCreditoType: { base: 'integer', minInclusive: '0', maxInclusive: '1' },

  // Amounts, quantities, rates
  Decimal18D1or2ValidationTypeMayorIgualCero: {
    base: 'decimal',
    pattern: String.raw`[0-9]{1,16}(\.[0-9]{1,2})?`,
    totalDigits: 18,
    fractionDigits: 2,
    says: 'an amount of at most 16 digits, with no, one or two decimals, as 1234.50',
  },
  Decimal18D1or2ValidationTypeMayorCero: {
    base: 'decimal',
    pattern: String.raw`[0-9]{1,16}(\.[0-9]{1,2})?`,
    minExclusive: '0',
    totalDigits: 18,
    fractionDigits: 2,
    says: 'a number above 0 of at most 16 digits, with no, one or two decimals',
  },
  // The dot in some of these patterns is unescaped in the XSD as well: a digit may represent it.
  Decimal5D1or2ValidationTypeMayorCero: {
    base: 'decimal',
    pattern: '[0-9]{1,3}(.[0-9]{1,2})?',
    minExclusive: '0',
    totalDigits: 5,
    fractionDigits: 2,
    says: 'a number above 0 of at most 3 digits, with no, one or two decimals',
  },
  Decimal18D1or2ValidationTypeNegativoPositivo: {
    base: 'decimal',
    pattern: '[+-]?[0-9]{1,16}(.[0-9]{1,2})?',
    totalDigits: 18,
    fractionDigits: 2,
    says: 'an amount of at most 16 digits, with a sign or without, with no, one or two decimals',
  },
  Decimal7D1or4ValidationTypeMayorCero: {
    base: 'decimal',
    pattern: '[0-9]{1,3}(.[0-9]{1,4})?',
    minExclusive: '0',
    totalDigits: 7,
    fractionDigits: 4,
    says: 'a rate above 0 of at most 3 digits, with at most four decimals',
  },
  'Decimal7D1or4ValidationTypeMayorCero@41': {
    base: 'decimal',
    pattern: '[0-9]{1,3}(.[0-9]{1,4})?',
    totalDigits: 7,
    fractionDigits: 4,
    says: 'a rate of at most 3 digits, with at most four decimals',
  },
  Decimal19D1or3ValidationTypeMayorIgualCero: {
    base: 'decimal',
    pattern: '[0-9]{1,16}(.[0-9]{1,3})?',
    totalDigits: 19,
    fractionDigits: 3,
    says: 'a quantity of at most 16 digits, with at most three decimals',
  },
  Decimal20D1or4ValidationTypeMayorIgualCero: {
    base: 'decimal',
    pattern: String.raw`(\d{1,16})(\.\d{1,4})?`,
    totalDigits: 20,
    fractionDigits: 4,
    says: 'a price of at most 16 digits, with at most four decimals',
  },

  // Types that only the companion documents have
  'versionType@acecf,anecf': { base: 'string', enumeration: ['1.0'] },
  'TipoeCFType@rfce-32': { base: 'integer', enumeration: ['32'] },
  VersionType: { base: 'decimal', enumeration: ['1.0'], pattern: '[1]{1}.[0]{1}', says: 'exactly 1.0' },
  'VersionType@arecf': { base: 'decimal', enumeration: ['1.0'], totalDigits: 2, fractionDigits: 1 },
  eNCFType: {
    base: 'string',
    minLength: 13,
    maxLength: 13,
    pattern: '([a-z0-9A-Z]{13,13})*',
    says: '13 letters or digits: E, 32 and ten digits of the sequence',
  },
  'eNCFType@arecf': {
    base: 'string',
    minLength: 9,
    maxLength: 13,
    pattern: '([a-z0-9A-Z]{13,13})|([a-z0-9A-Z]{11,11})|([a-z0-9A-Z]{9,9})*',
    says: '13, 11 or 9 letters or digits',
  },
  TipoIngresosType: { base: 'integer', enumeration: ['01', '02', '03', '04', '05', '06'], pattern: '[0]{1}[1-6]{1}' },
  Decimal18D2MayorIgual0Type: {
    base: 'decimal',
    pattern: '[0-9]{1,16}(.[0-9]{2})?',
    totalDigits: 18,
    fractionDigits: 2,
    says: 'an amount of at most 16 digits, with two decimals or none',
  },
  RNCType: {
    base: 'integer',
    pattern: '[0-9]{11}|[0-9]{9}',
    readAs: '[0-9]{11}|[0-9]{9}|[0-9]{19}',
    says: '9 or 11 digits, no dashes',
  },
  AlfaNum150RType: { base: 'string', minLength: 1, maxLength: 150 },
  FechaType: {
    base: 'string',
    pattern: String.raw`\s*(3[01]|[12][$0-9]|0?[1-9])\-(1[012]|0?[1-9])\-((19|20)\d{2})\s*`,
    says: 'a date as DD-MM-YYYY',
  },
  AlfaNum20Type: { base: 'string', maxLength: 20 },
  AlfaNum150Type: { base: 'string', maxLength: 150 },
  Decimal18D2Mayor0Type: {
    base: 'decimal',
    pattern: '[0-9]{1,16}(.[0-9]{2})?',
    minInclusive: '0.01',
    totalDigits: 18,
    fractionDigits: 2,
    says: 'an amount of at least 0.01 and at most 16 digits, with two decimals or none',
  },
  ImpuestosAdicionalesType: { base: 'string', enumeration: ADDITIONAL_TAXES },
  Decimal18D2NegativoType: {
    base: 'decimal',
    pattern: '[+-]?[0-9]{1,16}(.[0-9]{2})?',
    totalDigits: 18,
    fractionDigits: 2,
    says: 'an amount of at most 16 digits, with a sign or without, with two decimals or none',
  },
  CodigoSeguridadeCFType: { base: 'string', pattern: '.{6}', says: 'the first six characters of the signature value' },
  RNCValidation: {
    base: 'integer',
    pattern: String.raw`(\d{11,11})|(\d{9,9})`,
    readAs: '[0-9]{11}|[0-9]{9}|[0-9]{19}',
    says: '9 or 11 digits, no dashes',
  },
  AlfaNum11Validation: {
    base: 'string',
    pattern: '([a-z0-9A-Z]{13,13})|([a-z0-9A-Z]{11,11})|([a-z0-9A-Z]{9,9})',
    readAs:
      '[a-zA-Z0-9]{9}|[a-zA-Z0-9]{11}|[a-zA-Z0-9]{13}|[a-zA-Z0-9]{19}|[a-zA-Z0-9]{21}|[a-zA-Z0-9]{23}|[a-zA-Z0-9]{31}',
    says: '13, 11 or 9 letters or digits',
  },
  DateValidation: {
    base: 'string',
    pattern: String.raw`(3[01]|[12][0-9]|0?[1-9])\-(1[012]|0?[1-9])\-((20|20)\d{2})`,
    says: 'a date as DD-MM-YYYY of this century',
  },
  Decimal18D2Validation: {
    base: 'decimal',
    pattern: String.raw`[0-9]+(\.[0-9]{2})`,
    totalDigits: 18,
    fractionDigits: 2,
    says: 'an amount with exactly two decimals',
  },
  EstadoType: { base: 'integer', enumeration: ['1', '2'] },
  'EstadoType@arecf': { base: 'integer', enumeration: ['0', '1'] },
  AlfaNum250Validation: { base: 'string', maxLength: 250 },
  DateAndTimeValidation: {
    base: 'string',
    pattern: '(3[01]|[12][0-9]|0[1-9])-(1[0-2]|0[1-9])-[0-9]{4} (2[0-3]|[01]?[0-9]):([0-5]?[0-9]):([0-5]?[0-9])',
    says: 'date and time as DD-MM-YYYY HH:MM:SS',
  },
  Num10Validation: { base: 'integer', pattern: String.raw`(\d{1,10})`, says: 'a number of at most 10 digits' },
  Num2Validation: { base: 'integer', pattern: String.raw`\d{1,2}`, says: 'a number of at most 2 digits' },
  CFType: { base: 'integer', enumeration: ['31', '32', '33', '34', '41', '43', '44', '45', '46', '47'] },
  AlfaNum13Validation: { base: 'string', minLength: 13, maxLength: 13 },
  CodigoMotivoNoRecibidoType: { base: 'integer', enumeration: ['1', '2', '3', '4'] },
  DateAndTimeType: {
    base: 'string',
    pattern: '(3[01]|[12][0-9]|0[1-9])-(1[0-2]|0[1-9])-[0-9]{4} (2[0-3]|[01]?[0-9]):([0-5]?[0-9]):([0-5]?[0-9])',
    says: 'date and time as DD-MM-YYYY HH:MM:SS',
  },
  'xs:string': { base: 'string' },
  'xs:dateTime': { base: 'dateTime' },
};
