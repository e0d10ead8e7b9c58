import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { type NumberRange, readRanges, type TypedRange, typedRange } from '../../data/number-ranges.js';
import { usePlace } from '../../data/place.js';
import './cancellations.css';
import { Confirm } from './confirm.js';
import { RangesForm } from './ranges-form.js';

/** Cancels numbers in two steps: the ranges are typed, then the exact numbers are confirmed. */
export function NewCancellation() {
  const words = useTranslations('cancellations');
  const { env } = usePlace();
  const [typed, type] = useState<readonly TypedRange[]>(() => [typedRange('31')]);
  const [reason, setReason] = useState('');
  const [reviewed, review] = useState<readonly NumberRange[] | null>(null);
  return (
    <>
      <p className="quiet">
        <Link to="/cancellations">{words('title')}</Link>
      </p>
      <h1>{words(reviewed === null ? 'new' : 'confirm')}</h1>
      <p className="destroys">{words('effect')}</p>
      {env === 'CerteCF' ? (
        <p>{words('notHere')}</p>
      ) : reviewed === null ? (
        <RangesForm
          typed={typed}
          onType={type}
          reason={reason}
          onReason={setReason}
          review={() => review(readRanges(typed).ranges)}
        />
      ) : (
        <Confirm ranges={reviewed} reason={reason} back={() => review(null)} />
      )}
    </>
  );
}
