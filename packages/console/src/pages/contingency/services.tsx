import { useTranslations } from 'use-intl';
import { type AuthorityStatus, useServices } from '../../data/contingency.js';
import { useFormats } from '../../ui/format.js';
import { Loaded } from '../../ui/loaded.js';

/** The state of the authority's services, as the authority publishes it. */
export function Services() {
  const words = useTranslations('contingency');
  const services = useServices();
  return (
    <section>
      <h2>{words('services')}</h2>
      <Loaded query={services}>
        {(status) => (status === null ? <p className="quiet">{words('unknown')}</p> : <State status={status} />)}
      </Loaded>
    </section>
  );
}

function State({ status: { services, maintenance_windows: windows, checked_at } }: { status: AuthorityStatus }) {
  const words = useTranslations('contingency');
  const { moment } = useFormats();
  return (
    <>
      <ul className="services">
        {services.map(({ service, status }) => (
          <li key={service}>
            <span>{service}</span>
            <span className={`status ${status === 'available' ? 'good' : 'bad'}`}>{words(status)}</span>
          </li>
        ))}
      </ul>
      {windows.map(({ start_time, end_time, days }) => (
        <p key={start_time + end_time + days.join()}>
          {words('maintenance', { days: days.join(', '), start: start_time, end: end_time })}
        </p>
      ))}
      <p className="quiet">{words('checked', { time: moment(checked_at) })}</p>
    </>
  );
}
