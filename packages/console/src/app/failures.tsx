import { type ErrorComponentProps, Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';

/** For an address without a page. */
export function NotFound() {
  const words = useTranslations('state.notFound');
  return (
    <div className="problem">
      <h1>{words('title')}</h1>
      <p>{words('hint')}</p>
      <Link to="/">{words('home')}</Link>
    </div>
  );
}

/** For a page that cannot be loaded, for example because a newer version has replaced its files, or that failed while it was drawn. */
export function Failed({ error }: ErrorComponentProps) {
  const words = useTranslations('state.failed');
  return (
    <div className="problem" role="alert">
      <h1>{words('title')}</h1>
      <p>{words('hint')}</p>
      <button type="button" className="main" onClick={() => location.reload()}>
        {words('reload')}
      </button>
      <small className="code" lang="en">
        {(error as Error).message}
      </small>
    </div>
  );
}
