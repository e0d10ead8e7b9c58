import { useState } from 'react';
import { useTranslations } from 'use-intl';
import type { Event } from '../../data/events.js';
import { useFormats } from '../../ui/format.js';
import { DocumentLink } from './document-link.js';
import { toneOf, useDetail, useEventWords } from './words.js';

/** Events, newest first, below the day on which each happened. */
export function EventDays({ events }: { events: readonly Event[] }) {
  const { day } = useFormats();
  const days = new Map<string, Event[]>();
  for (const event of events) {
    const ofDay = days.get(day(event.time)) ?? [];
    ofDay.push(event);
    days.set(day(event.time), ofDay);
  }
  return (
    <>
      <Arrivals events={events} />
      {Array.from(days, ([date, ofDay]) => (
        <section key={date} aria-label={date}>
          <h2>{date}</h2>
          <ol className="events">
            {ofDay.map((event) => (
              <EventRow key={event.id} event={event} />
            ))}
          </ol>
        </section>
      ))}
    </>
  );
}

function EventRow({ event }: { event: Event }) {
  const words = useEventWords(event.type);
  const detailOf = useDetail();
  const detail = detailOf(event);
  const { clock } = useFormats();
  return (
    <li>
      <time dateTime={event.time} className="quiet">
        {clock(event.time)}
      </time>
      <div>
        <span className={`status ${toneOf(event.type)}`}>{words.title}</span>
        <small>{words.meaning}</small>
      </div>
      <div>
        <DocumentLink event={event} />
        {detail !== null && <small dir="auto">{detail}</small>}
      </div>
    </li>
  );
}

/** Says to a screen reader how many events arrived, and what the newest is about. */
function Arrivals({ events }: { events: readonly Event[] }) {
  const words = useTranslations('events');
  const newest = events[0] as Event;
  const { title } = useEventWords(newest.type);
  const [seen, setSeen] = useState({ id: newest.id, said: '' });
  if (seen.id !== newest.id) {
    const known = events.findIndex(({ id }) => id === seen.id);
    const count = known === -1 ? events.length : known;
    setSeen({ id: newest.id, said: words('arrived', { count, title, encf: newest.subject.encf ?? '' }) });
  }
  return (
    <p role="status" className="unseen">
      {seen.said}
    </p>
  );
}
