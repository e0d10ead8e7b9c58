import { reasons } from './reasons.js';

/** Words of the frame, and of documents on every page. */
export const general = {
  product: 'Comprobantes electrónicos',
  language: 'English',
  nav: {
    main: 'Páginas',
    overview: 'Resumen',
    invoices: 'Emitidos',
    received: 'Recibidos',
    batches: 'Lotes',
    cancellations: 'Anulaciones',
    deliveries: 'Entregas',
    contingency: 'Contingencia',
    events: 'Eventos',
    settings: 'Ajustes',
  },
  place: { taxpayer: 'Contribuyente', env: 'Ambiente', none: 'Esta clave no tiene contribuyentes.' },
  session: {
    title: 'Entrar',
    account: {
      key: 'Clave de API',
      hint: 'Use una clave de API de su cuenta. La sesión termina tras ocho horas sin uso.',
    },
    administrator: {
      key: 'Token de administrador',
      hint: 'Administración de este servidor. Use su token de administrador. La sesión termina tras ocho horas sin uso.',
    },
    enter: 'Entrar',
    leave: 'Salir',
    again: 'La sesión terminó. Entre de nuevo; lo que escribió sigue aquí.',
  },
  role: { viewer: 'Consulta', operator: 'Operación', owner: 'Propietario' },
  cancel: 'Cancelar',
  secret: { label: 'Secreto', copy: 'Copiar', copied: 'Copiado', kept: 'Ya lo guardé' },
  state: {
    loading: 'Cargando…',
    unreachable: 'No se puede conectar con el servidor. Se intenta de nuevo cada pocos segundos.',
    reasons,
    retry: 'Intentar de nuevo',
    problem: 'No se pudo completar: {message}',
  },
  status: {
    Aceptado: 'Aceptado',
    AceptadoCondicional: 'Aceptado condicional',
    Rechazado: 'Rechazado',
    EnProceso: 'En proceso',
    'No encontrado': 'No encontrado',
  },
  type: {
    '31': 'Factura de crédito fiscal',
    '32': 'Factura de consumo',
    '33': 'Nota de débito',
    '34': 'Nota de crédito',
    '41': 'Compras',
    '43': 'Gastos menores',
    '44': 'Regímenes especiales',
    '45': 'Gubernamental',
    '46': 'Exportaciones',
    '47': 'Pagos al exterior',
  },
};
