import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { EVENT_KINDS, useEvents } from '../../data/events.js';
import { usePlace } from '../../data/place.js';
import { Choice } from '../../ui/field.js';
import { Loaded } from '../../ui/loaded.js';
import { EventDays } from './event-days.js';
import './events.css';

const route = getRouteApi('/events');

/** What happens to the documents of the account, as it happens. The address holds the types of the filter. */
export function Events() {
  const words = useTranslations('events');
  const { types = '' } = route.useSearch();
  const { env } = usePlace();
  const [paused, setPaused] = useState(false);
  const feed = useEvents(types, paused);
  const pause = () => {
    setPaused(!paused);
    if (!paused) feed.stop();
  };
  return (
    <>
      <header className="heading">
        <div>
          <h1>{words('title')}</h1>
          <p className="quiet">{words('about')}</p>
        </div>
        <div className="live">
          <State paused={paused} isOffline={feed.fetchStatus === 'paused'} isFailing={feed.failureCount > 0} />
          <button type="button" onClick={pause}>
            {words(paused ? 'resume' : 'pause')}
          </button>
        </div>
      </header>
      <Kinds types={types} />
      <Loaded query={feed}>
        {({ events }) =>
          events.length === 0 ? (
            <p className="quiet">{words(types === '' ? 'empty' : 'emptyOfKind')}</p>
          ) : (
            <EventDays key={env + types} events={events} />
          )
        }
      </Loaded>
    </>
  );
}

function State({ paused, isOffline, isFailing }: { paused: boolean; isOffline: boolean; isFailing: boolean }) {
  const words = useTranslations('events.state');
  const [state, tone] = paused
    ? (['paused', 'wait'] as const)
    : isOffline || isFailing
      ? (['unreachable', 'warn'] as const)
      : (['live', 'good'] as const);
  return (
    <p role="status" className={`status ${tone}`}>
      {words(state)}
    </p>
  );
}

function Kinds({ types }: { types: string }) {
  const words = useTranslations('events');
  const navigate = useNavigate();
  const kinds = Object.entries(EVENT_KINDS).map(
    ([kind, ofKind]) => [ofKind.join(','), words(`kind.${kind as keyof typeof EVENT_KINDS}`)] as const,
  );
  const isOther = types !== '' && kinds.every(([ofKind]) => ofKind !== types);
  return (
    <search className="kinds">
      <Choice
        label={words('show')}
        value={types}
        options={[['', words('kind.all')], ...kinds, ...(isOther ? [[types, types] as const] : [])]}
        onChange={(types) => navigate({ to: '/events', search: { types } })}
      />
    </search>
  );
}
