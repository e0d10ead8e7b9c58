import type { AnswerReader } from '../answers/answer-reader.js';
import { type AnswerValue, field, records, textField, textOf } from '../answers/answer-value.js';
import { fold } from '../answers/authority-texts.js';
import type { EnvironmentStatus, MaintenanceWindow, ServiceStatus } from '../answers/verdicts.js';

function availability(text: string | null): boolean | null {
  const word = text === null ? '' : fold(text);
  return word === 'disponible' ? true : word === 'no disponible' ? false : null;
}

export const readServiceStatus: AnswerReader<ServiceStatus[]> = ({ status, value }) => {
  const rows = status === 200 ? records(value, 'servicio') : undefined;
  if (!rows) return null;
  const verdict: ServiceStatus[] = [];
  for (const row of rows) {
    const service = textField(row, 'servicio');
    const available = availability(textField(row, 'estatus'));
    if (service === null || available === null) return null;
    verdict.push({ service, available, environment: textField(row, 'ambiente') ?? '' });
  }
  return { verdict };
};

export const readMaintenanceWindows: AnswerReader<MaintenanceWindow[]> = ({ status, value }) => {
  const list = field(value, 'ventanamantenimientos');
  if (status !== 200 || list === undefined) return null;
  const rows = list === null || textOf(list) !== null || list === '' ? [] : records(list, 'ambiente');
  if (!rows) return null;
  return {
    verdict: rows.map((row) => ({
      environment: textField(row, 'ambiente') ?? '',
      startTime: textField(row, 'horainicio') ?? '',
      endTime: textField(row, 'horafin') ?? '',
      days: texts(field(row, 'dias')),
    })),
  };
};

export const readEnvironmentStatus: AnswerReader<EnvironmentStatus> = ({ status, value }) => {
  const available = status === 200 ? availability(textField(value, 'estado')) : null;
  return available === null ? null : { verdict: { available } };
};

function texts(value: AnswerValue | undefined): string[] {
  if (Array.isArray(value)) return value.flatMap(texts);
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(texts);
  const text = textOf(value);
  return text === null ? [] : [text];
}
