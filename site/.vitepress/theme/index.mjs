import DefaultTheme from 'vitepress/theme';
import { h } from 'vue';
import './style.css';

/** The description of the operations is a page of the gateway, outside the site. */
const ApiLink = ({ text }) => h('a', { class: 'api-link', href: '/docs', target: '_self' }, text);
ApiLink.props = ['text'];

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => app.component('ApiLink', ApiLink),
};
