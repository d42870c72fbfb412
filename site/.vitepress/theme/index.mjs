import theme from 'vitepress/theme';
import { h } from 'vue';

import './style.css';
import { VersionSwitch } from './version-switch.mjs';

export default {
  extends: theme,
  Layout: () =>
    h(theme.Layout, null, {
      'nav-bar-content-after': () => h(VersionSwitch),
      'nav-screen-content-after': () => h(VersionSwitch),
    }),
};
