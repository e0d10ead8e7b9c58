export const events = {
  title: 'Eventos',
};
