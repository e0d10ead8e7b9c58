import { useTranslations } from 'use-intl';
import { useSums } from '../../data/invoices.js';
import { useMay } from '../../data/place.js';
import { Authority } from '../../ui/authority.js';
import { dayBefore, monthAgo } from '../../ui/format.js';
import { Loaded } from '../../ui/loaded.js';
import { Attention } from './attention.js';
import { Awaited } from './awaited.js';
import { Days } from './days.js';
import './overview.css';
import { Months } from './months.js';
import { Rejections } from './rejections.js';
import { Today } from './today.js';
import { TopBuyers, TopProviders } from './top.js';

/** What happened today and in the last thirty days, and what needs a person. */
export function Overview() {
  const words = useTranslations('overview');
  const seesIssued = useMay('read', 'submit');
  const seesReceived = useMay('receive');
  const seesAuthority = useMay('read');
  return (
    <>
      <h1>{words('title')}</h1>
      {seesIssued && <Today />}
      <div className="columns">
        <Attention seesIssued={seesIssued} />
        {seesReceived && <Awaited />}
      </div>
      {seesIssued && <Issued />}
      <div className="columns">
        {seesIssued && <TopBuyers />}
        {seesReceived && <TopProviders />}
      </div>
      {seesIssued && <Rejections />}
      {seesAuthority && <Authority />}
    </>
  );
}

function Issued() {
  const sums = useSums(monthAgo(), dayBefore(0));
  const months = useSums(`${dayBefore(365).slice(0, 8)}01`, dayBefore(0), 'issued');
  return (
    <>
      <Loaded query={sums}>{(data) => <Days sums={data} />}</Loaded>
      <Loaded query={months}>{(data) => <Months months={data.by_month} />}</Loaded>
    </>
  );
}
