import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useTranslations } from 'use-intl';
import { useCancel } from '../../data/cancellations.js';
import { GatewayError } from '../../data/gateway.js';
import { countOf, type NumberRange } from '../../data/number-ranges.js';
import { useAccount, usePlace } from '../../data/place.js';
import { Explanation } from '../../ui/fault.js';
import { useFormats } from '../../ui/format.js';
import { type Column, Table } from '../../ui/table.js';

interface ConfirmProps {
  ranges: readonly NumberRange[];
  reason: string;
  /** Returns to the first step. */
  back: () => void;
}

/** The second step: the exact numbers and how many they are. Only its button sends the cancellation. */
export function Confirm({ ranges, reason, back }: ConfirmProps) {
  const words = useTranslations('cancellations');
  const navigate = useNavigate();
  const cancel = useCancel();
  const count = ranges.reduce((sum, range) => sum + countOf(range), 0);
  const section = useRef<HTMLElement>(null);
  useEffect(() => section.current?.focus(), []);
  const send = () =>
    cancel.mutate(
      { ranges, reason },
      // The way back leads to the list, not to the form that was sent.
      { onSuccess: ({ id }) => navigate({ to: '/cancellations/$id', params: { id: String(id) }, replace: true }) },
    );
  return (
    <section className="confirm" aria-label={words('confirm')} tabIndex={-1} ref={section}>
      <p className="big">{words('quantity', { count })}</p>
      <Issuer />
      <Numbers ranges={ranges} />
      {reason !== '' && <p className="stranger" dir="auto">{`${words('reason')}: ${reason}`}</p>}
      {cancel.error && <Failure error={cancel.error} />}
      <div className="actions">
        <button type="button" className="danger" disabled={cancel.isPending || cancel.isSuccess} onClick={send}>
          {words('send', { count })}
        </button>
        <button type="button" disabled={cancel.isPending} onClick={back}>
          {words('back')}
        </button>
      </div>
    </section>
  );
}

function Issuer() {
  const { env, rnc } = usePlace();
  const formats = useFormats();
  const name = useAccount().data?.taxpayers.find((one) => one.rnc === rnc)?.name;
  return <p className="quiet">{`${name ?? ''} · ${formats.rnc(rnc)} · ${env}`}</p>;
}

function Numbers({ ranges }: { ranges: readonly NumberRange[] }) {
  const words = useTranslations('cancellations');
  const types = useTranslations('type');
  const { number } = useFormats();
  const columns: Column<NumberRange>[] = [
    { head: words('from'), cell: ({ from }) => from },
    { head: words('to'), cell: ({ to }) => to },
    { head: words('type'), cell: ({ type }) => `${type} ${types(type)}` },
    { head: words('count'), cell: (range) => number(countOf(range)), amount: true },
  ];
  return <Table caption={words('numbers')} columns={columns} rows={ranges} rowKey={({ from }) => from} />;
}

function Failure({ error }: { error: Error }) {
  const words = useTranslations('cancellations');
  const unsure = error instanceof GatewayError && (error.isTemporary || error.code === 'commit_unconfirmed');
  const inUse = error instanceof GatewayError && error.code === 'encf_in_use';
  return (
    <div className="fault" role="alert">
      {inUse ? <p>{words('inUse', { numbers: numbersIn(error.message) })}</p> : <Explanation error={error} />}
      <p>{words(unsure ? 'unsure' : 'refused')}</p>
      <Link to="/cancellations">{words('title')}</Link>
    </div>
  );
}

const numbersIn = (text: string) => [...new Set(text.match(/E\d{12}/g))].join(', ');
