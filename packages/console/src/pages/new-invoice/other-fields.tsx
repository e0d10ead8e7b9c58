import { textOf } from '@ecf/domain';
import { useTranslations } from 'use-intl';
import { type Draft, type DraftType, isLateNote } from './draft.js';
import { PlacedChoice, PlacedText } from './faults.js';

const ID_DOC = 'ECF.Encabezado.IdDoc';
const TYPES: readonly DraftType[] = ['31', '32', '34'];

export interface FieldsProps {
  draft: Draft;
  change: (changed: Partial<Draft>) => void;
}

/** Type, number and day. `next` is the number that the gateway gives; null if no range is registered. */
export function NumberFields({ draft, change, next }: FieldsProps & { next: string | null }) {
  const words = useTranslations('newInvoice');
  const types = useTranslations('type');
  return (
    <div className="form-row">
      <PlacedChoice
        path={`${ID_DOC}.TipoeCF`}
        label={words('kind')}
        hint={next === null ? undefined : words('automatic', { next })}
        value={draft.type}
        options={TYPES.map((type) => [type, `${type} ${types(type)}`])}
        onChange={(type) => change({ type: type as DraftType })}
      />
      {next === null && (
        <PlacedText
          path={`${ID_DOC}.eNCF`}
          label={words('encf')}
          hint={words('encfHint')}
          value={draft.encf}
          onChange={(encf) => change({ encf })}
        />
      )}
      {next === null && draft.type === '31' && (
        <PlacedText
          path={`${ID_DOC}.FechaVencimientoSecuencia`}
          label={words('expires')}
          type="date"
          value={draft.expires}
          onChange={(expires) => change({ expires })}
        />
      )}
      <PlacedText
        path="ECF.Encabezado.Emisor.FechaEmision"
        label={words('date')}
        type="date"
        value={draft.date}
        onChange={(date) => change({ date })}
      />
      <PlacedText
        path="ECF.Encabezado.Emisor.DireccionEmisor"
        label={words('address')}
        value={textOf(draft.issuer, 'DireccionEmisor') ?? ''}
        onChange={(text) => change({ issuer: { ...draft.issuer, DireccionEmisor: text } })}
      />
    </div>
  );
}

/** How it is paid, what kind of income it is, and the caller's own reference. */
export function PaymentFields({ draft, change }: FieldsProps) {
  const words = useTranslations('newInvoice');
  const { type, payment } = draft;
  const means = (['1', '2', '3', '5', '6', '7', '8'] as const).filter((one) => one !== '5' || type === '32');
  return (
    <div className="form-row">
      <PlacedChoice
        path={`${ID_DOC}.TipoPago`}
        label={words('terms')}
        value={payment}
        options={(['1', '2', '3'] as const).map((one) => [one, words(`termsOf.${one}`)])}
        onChange={(changed) => change({ payment: changed })}
      />
      {payment === '2' && (
        <PlacedText
          path={`${ID_DOC}.FechaLimitePago`}
          label={words('due')}
          type="date"
          value={draft.due}
          onChange={(due) => change({ due })}
        />
      )}
      {payment === '1' && type !== '34' && (
        <PlacedChoice
          path={`${ID_DOC}.TablaFormasPago.FormaDePago[1].FormaPago`}
          label={words('means')}
          value={draft.means}
          options={means.map((one) => [one, words(`meansOf.${one}`)])}
          onChange={(changed) => change({ means: changed })}
        />
      )}
      <PlacedChoice
        path={`${ID_DOC}.TipoIngresos`}
        label={words('income')}
        value={draft.income}
        options={(['01', '02', '03', '04', '05', '06'] as const).map((one) => [one, words(`incomeOf.${one}`)])}
        onChange={(income) => change({ income })}
      />
      <PlacedText
        path="x-reference"
        label={words('own')}
        hint={words('ownHint')}
        value={draft.own}
        onChange={(own) => change({ own })}
      />
    </div>
  );
}

/** The document that a credit note modifies, and why. */
export function ReferenceFields({ draft, change }: FieldsProps) {
  const words = useTranslations('newInvoice');
  const { reference } = draft;
  const set = (name: keyof Draft['reference']) => (text: string) =>
    change({ reference: { ...reference, [name]: text } });
  const path = (element: string) => `ECF.InformacionReferencia.${element}`;
  return (
    <div className="form-row">
      <PlacedText
        path={path('NCFModificado')}
        label={words('modified')}
        value={reference.encf}
        onChange={set('encf')}
      />
      <PlacedText
        path={path('FechaNCFModificado')}
        label={words('modifiedDate')}
        hint={isLateNote(draft) ? words('late') : undefined}
        type="date"
        value={reference.date}
        onChange={set('date')}
      />
      <PlacedChoice
        path={path('CodigoModificacion')}
        label={words('code')}
        value={reference.code}
        options={(['1', '2', '3', '4'] as const).map((code) => [code, `${code} ${words(`codeOf.${code}`)}`])}
        onChange={set('code')}
      />
      <PlacedText
        path={path('RazonModificacion')}
        label={words('reason')}
        value={reference.reason}
        onChange={set('reason')}
      />
    </div>
  );
}
