export const events = {
  title: 'Eventos',
  about: 'Lo que pasa con los comprobantes de todos los contribuyentes de su clave. Se ven los últimos 500.',
  show: 'Mostrar',
  pause: 'Pausar',
  resume: 'Continuar',
  state: {
    live: 'En vivo',
    paused: 'En pausa',
    unreachable: 'Sin conexión. Continúa cuando la conexión vuelva.',
  },
  empty: 'Todavía no ha pasado nada. Los eventos aparecen aquí sin recargar la página.',
  emptyOfKind: 'No hay eventos de esta clase. Los próximos aparecen aquí sin recargar la página.',
  arrived: '{count, plural, one {Un evento nuevo} other {# eventos nuevos}}: {title} {encf}',
  kind: {
    all: 'Todos los eventos',
    attention: 'Los que necesitan atención',
    invoice: 'Comprobantes emitidos',
    delivery: 'Entregas',
    received: 'Comprobantes recibidos',
    approval: 'Aprobaciones comerciales',
    cancellation: 'Anulaciones',
    batch: 'Lotes',
    contingency: 'Contingencia',
    settings: 'Secuencias y certificados',
  },
  type: {
    invoice: {
      accepted: { title: 'Comprobante aceptado', meaning: 'La DGII lo aceptó. No tiene que hacer nada más.' },
      conditional: {
        title: 'Comprobante aceptado con observaciones',
        meaning: 'La DGII lo aceptó y es válido. Lea las observaciones para corregir los próximos.',
      },
      rejected: {
        title: 'Comprobante rechazado',
        meaning: 'La DGII no lo aceptó y no es válido. Corríjalo y envíelo de nuevo.',
      },
      held: {
        title: 'Nota en espera',
        meaning: 'Se envía cuando la DGII decida sobre el comprobante que modifica.',
      },
      withdrawn: { title: 'Comprobante retirado', meaning: 'No se enviará a la DGII y no es válido.' },
      overdue: {
        title: 'Comprobante sin respuesta',
        meaning: 'La DGII no ha decidido en 72 horas. Se sigue consultando.',
      },
    },
    delivery: {
      delivered: { title: 'Entregado al comprador', meaning: 'El sistema del comprador acusó recibo.' },
      refused: {
        title: 'No recibido por el comprador',
        meaning: 'Su sistema lo rechazó. Vea el motivo y avise al comprador.',
      },
      failed: {
        title: 'Entrega fallida',
        meaning: 'No se pudo entregar. Envíe el XML al comprador por otra vía o inténtelo de nuevo.',
      },
    },
    received: {
      accepted: { title: 'Comprobante recibido', meaning: 'Un suplidor lo envió y se le dio acuse de recibo.' },
      refused: { title: 'Documento no recibido', meaning: 'Llegó un documento con errores y se devolvió al emisor.' },
      confirmed: { title: 'Recibido confirmado', meaning: 'La DGII tiene el mismo comprobante.' },
      disputed: {
        title: 'Recibido sin confirmar',
        meaning: 'La DGII lo rechazó o no lo tiene. No lo registre ni lo pague; pregunte al suplidor.',
      },
    },
    approval: {
      received: { title: 'Respuesta del comprador', meaning: 'El comprador aprobó o rechazó su comprobante.' },
      sent: { title: 'Decisión enviada', meaning: 'Se aprobó o rechazó un comprobante recibido.' },
      refused: {
        title: 'Decisión no aceptada',
        meaning: 'La DGII o el suplidor no la aceptó. Abra el comprobante para ver qué vale.',
      },
    },
    cancellation: {
      accepted: { title: 'Anulación aceptada', meaning: 'La DGII anuló los números.' },
      partial: { title: 'Anulación parcial', meaning: 'La DGII anuló una parte de los números. Revise el resto.' },
      rejected: { title: 'Anulación rechazada', meaning: 'La DGII no anuló los números. Revise los mensajes.' },
    },
    batch: { done: { title: 'Lote terminado', meaning: 'Todas sus líneas tienen resultado.' } },
    contingency: {
      started: {
        title: 'Contingencia iniciada',
        meaning: 'La DGII no responde. Los comprobantes se firman y se envían cuando vuelva.',
      },
      ended: { title: 'Contingencia terminada', meaning: 'La DGII responde de nuevo. Se envía lo pendiente.' },
      late: {
        title: 'Contingencia fuera de plazo',
        meaning: 'La DGII no ha decidido sobre el comprobante al final del plazo de 72 horas.',
      },
    },
    range: {
      low: { title: 'Quedan pocos números', meaning: 'Pida más números a la DGII y regístrelos.' },
      expiring: { title: 'Secuencia por vencer', meaning: 'Vence en menos de 30 días. Pida otra a la DGII.' },
    },
    certificate: {
      expiring: {
        title: 'Certificado por vencer',
        meaning: 'Vence en menos de 30 días. Después no se puede firmar; cargue uno nuevo.',
      },
    },
  },
  detail: {
    numbers: '{count, plural, one {# número} other {# números}}',
    batch: '{accepted} de {total} aceptados',
    remaining: 'quedan {count}',
    expires: 'vence el {day}',
    deadline: 'plazo hasta {moment}',
  },
};
