/** The text that the printed form of a contingency document shows. Source: Informe Técnico, printed form. */
export const CONTINGENCY_LEGEND =
  'e-CF emitido en modalidad de Contingencia, el cual podrá ser consultado para su validez fiscal, a partir de las setenta y dos (72) horas.';

/** The text that the printed form of a document with IndicadorEnvioDiferido shows. Source: the same. */
export const DEFERRED_LEGEND =
  'e-CF emitido en modalidad Envío Diferido, podrá ser consultado para su validez fiscal, a partir de las veinticuatro (24) horas.';
