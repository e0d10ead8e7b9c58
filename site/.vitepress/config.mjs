import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'vitepress';
import { addressOf, groups, translationOf } from '../pages.mjs';
import { anchorOf, resolveLinks } from './links.mjs';

const TITLE = 'e-CF gateway';

/** The sidebar of a language: 0 English, 1 Spanish. */
function sidebar(language) {
  return groups().map(({ text, collapsed, items }) => ({
    text: text[language],
    ...(collapsed === undefined ? {} : { collapsed }),
    items: items.map(([source, ...labels]) => {
      if (language === 0) return { text: labels[0], link: addressOf(source) };
      const translation = translationOf(source);
      if (translation !== null) return { text: labels[1], link: addressOf(translation) };
      return { text: `${labels[1]} <abbr class="in-english" title="en inglés">EN</abbr>`, link: addressOf(source) };
    }),
  }));
}

const SPANISH = {
  outline: { level: [2, 3], label: 'En esta página' },
  docFooter: { prev: 'Página anterior', next: 'Página siguiente' },
  darkModeSwitchLabel: 'Apariencia',
  lightModeSwitchTitle: 'Cambiar a modo claro',
  darkModeSwitchTitle: 'Cambiar a modo oscuro',
  sidebarMenuLabel: 'Menú',
  returnToTopLabel: 'Volver arriba',
  langMenuLabel: 'Cambiar de idioma',
  skipToContentLabel: 'Ir al contenido',
  notFound: {
    title: 'Página no encontrada',
    quote: 'Esta dirección no existe en el sitio.',
    linkLabel: 'ir al inicio',
    linkText: 'Ir al inicio',
  },
};

const SPANISH_SEARCH = {
  button: { buttonText: 'Buscar', buttonAriaLabel: 'Buscar' },
  modal: {
    displayDetails: 'Mostrar detalles',
    resetButtonTitle: 'Borrar la búsqueda',
    backButtonTitle: 'Cerrar la búsqueda',
    noResultsText: 'No hay resultados para',
    footer: {
      selectText: 'abrir',
      navigateText: 'moverse',
      closeText: 'cerrar',
      selectKeyAriaLabel: 'Intro',
      navigateUpKeyAriaLabel: 'Flecha arriba',
      navigateDownKeyAriaLabel: 'Flecha abajo',
      closeKeyAriaLabel: 'Escape',
    },
  },
};

export default defineConfig({
  base: '/docs/guide/',
  srcDir: '.pages',
  cacheDir: 'node_modules/.vitepress',
  title: TITLE,
  cleanUrls: true,
  // The list of pages in a file, so that no page has a script in its text.
  metaChunk: true,
  // To disable transitions, it would write a style element into the page, which the gateway forbids.
  appearance: { disableTransition: false },
  // A page shows a hundred links; a sender has a limited number of requests a second.
  router: { prefetchLinks: false },
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: '/docs/guide/icon.svg' }]],
  markdown: {
    anchor: { slugify: anchorOf },
    theme: { light: 'github-light', dark: 'github-dark' },
    config: resolveLinks,
  },
  locales: {
    root: {
      label: 'English',
      lang: 'en',
      description: 'An open server for Dominican electronic fiscal receipts (e-CF)',
      themeConfig: { sidebar: sidebar(0), nav: [{ component: 'ApiLink', props: { text: 'API' } }] },
    },
    es: {
      label: 'Español',
      lang: 'es-DO',
      description: 'Un servidor abierto para los comprobantes fiscales electrónicos (e-CF)',
      themeConfig: { ...SPANISH, sidebar: sidebar(1), nav: [{ component: 'ApiLink', props: { text: 'API' } }] },
    },
  },
  themeConfig: {
    siteTitle: TITLE,
    outline: [2, 3],
    externalLinkIcon: false,
    notFound: {
      title: 'Page not found',
      quote: 'This address does not exist on the site.',
      linkLabel: 'go to the start',
      linkText: 'Go to the start',
    },
    search: { provider: 'local', options: { locales: { es: { translations: SPANISH_SEARCH } } } },
  },
  // Scripts in a page move to files, so that the gateway can forbid them.
  transformHtml: (html, _file, { siteConfig }) =>
    html.replace(/<script id="[\w-]+">([^<]+)<\/script>/g, (_, script) => {
      const name = `assets/${createHash('sha256').update(script).digest('hex').slice(0, 8)}.js`;
      fs.writeFileSync(path.join(siteConfig.outDir, name), script);
      return `<script src="/docs/guide/${name}"></script>`;
    }),
});
