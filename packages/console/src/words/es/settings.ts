export const settings = {
  title: 'Ajustes',
};
