import { useTranslations } from 'use-intl';
import { isNoAnswer } from '../data/gateway.js';
import { useLag } from '../data/lag.js';
import { useSession } from '../data/session.js';

/** Seconds that lists may be behind before the page says so. */
const NOTED_LAG = 5;

/** What a person should know about everything on the page: the gateway is out of reach, or the lists are behind. */
export function Notices() {
  const words = useTranslations('state');
  const isAway = isNoAnswer(useSession().error);
  const lag = useLag();
  return (
    <div className="notices" role="status">
      {isAway && <p className="away">{words('away')}</p>}
      {!isAway && lag > NOTED_LAG && <p className="quiet">{words('lag', { seconds: Math.round(lag) })}</p>}
    </div>
  );
}
