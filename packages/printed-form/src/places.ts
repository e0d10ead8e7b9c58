/**
 * Provinces, municipalities and municipal districts by the code that an e-CF writes in Provincia and Municipio.
 * Source: Formato Comprobante Fiscal Electrónico (e-CF) v1.0, October 2025, table III.
 */
export const PLACES: ReadonlyMap<string, string> = new Map(
  `
010000 Distrito Nacional
010100 Santo Domingo de Guzmán
010101 Santo Domingo de Guzmán
020000 Azua
020100 Azua
020101 Azua
020102 Barro Arriba
020103 Las Barías-La Estancia
020104 Los Jovillos
020105 Puerto Viejo
020106 Barreras
020107 Doña Emma Balaguer Viuda Vallejo
020108 Clavellina
020109 Las Lomas
020200 Las Charcas
020201 Las Charcas
020202 Palmar de Ocoa
020300 Las Yayas de Viajama
020301 Las Yayas de Viajama
020302 Villarpando
020303 Hato Nuevo Cortés
020400 Padre las Casas
020401 Padre las Casas
020402 Las Lagunas
020403 La Siembra
020404 Monte Bonito
020405 Los Fríos
020500 Peralta
020501 Peralta
020600 Sabana Yegua
020601 Sabana Yegua
020602 Proyecto 4
020603 Ganadero
020604 Proyecto 2-C
020700 Pueblo Viejo
020701 Pueblo Viejo
020702 El Rosario
020800 Tábara Arriba
020801 Tábara Arriba
020802 Tábara Abajo
020803 Amiama Gómez
020804 Los Toros
020900 Guayabal
020901 Guayabal
021000 Estebanía
021001 Estebanía
030000 Bahoruco
030001 Neiba
030101 Neiba
030102 El Palmar
030200 Galván
030201 Galván
030202 El Salado
030300 Tamayo
030301 Tamayo
030302 Uvilla
030303 Santana
030304 Monserrate (Montserrat)
030305 Cabeza de Toro
030306 Mena
030307 Santa Bárbara el 6
030400 Villa Jaragua
030401 Villa Jaragua
030500 Los Ríos
030501 Los Ríos
030502 Las Clavellinas
040000 Barahona
040100 Barahona
040101 Barahona
040102 El Cachón
040103 La Guázara
040104 Villa Central
040200 Cabral
040201 Cabral
040300 Enriquillo
040301 Enriquillo
040302 Arroyo Dulce
040400 Paraíso
040401 Paraíso
040402 Los Patos
040500 Vicente Noble
040501 Vicente Noble
040502 Canoa
040503 Quita Coraza
040504 Fondo Negro
040600 El Peñón
040601 El Peñón
040700 La Ciénaga
040701 La Ciénaga
040702 Bahoruco
040800 Fundación
040801 Fundación
040802 Pescadería
040900 Las Salinas
040901 Las Salinas
041000 Polo
041001 Polo
041100 Jaquimeyes
041101 Jaquimeyes
041102 Palo Alto
050000 Dajabón
050100 Dajabón
050101 Dajabón
050102 Cañongo
050200 Loma de Cabrera
050201 Loma de Cabrera
050202 Capotillo
050203 Santiago de la Cruz
050300 Partido
050301 Partido
050400 Restauración
050401 Restauración
050500 El Pino
050501 El Pino
050502 Manuel Bueno
060000 Duarte
060100 San Francisco de Macorís
060101 San Francisco de Macorís
060102 La Peña
060103 Cenoví
060104 Jaya
060105 Presidente Don Antonio Guzmán Fernández
060200 Arenoso
060201 Arenoso
060202 Las Coles
060203 El Aguacate
060300 Castillo
060301 Castillo
060400 Pimentel
060401 Pimentel
060500 Villa Riva
060501 Villa Riva
060502 Agua Santa del Yuna
060503 Cristo Rey de Guaraguao
060504 Las Taranas
060505 Barraquito
060600 Las Guáranas
060601 Las Guáranas
060700 Eugenio María de Hostos
060701 Eugenio María de Hostos
060702 Sabana Grande
070000 Elías Piña
070100 Comendador
070101 Comendador
070102 Sabana Larga
070103 Guayabo
070200 Bánica
070201 Bánica
070202 Sabana Cruz
070203 Sabana Higüero
070300 El Llano
070301 El Llano
070302 Guanito
070400 Hondo Valle
070401 Hondo Valle
070402 Rancho de la Guardia
070500 Pedro Santana
070501 Pedro Santana
070502 Río Limpio
070600 Juan Santiago
070601 Juan Santiago
080000 El Seibo
080100 El Seibo
080101 El Seibo
080102 Pedro Sánchez
080103 San Francisco-Vicentillo
080104 Santa Lucía
080200 Miches
080201 Miches
080202 El Cedro
080203 La Gina
090000 Espaillat
090100 Moca
090101 Moca
090102 José Contreras
090103 San Víctor
090104 Juan López
090105 Las Lagunas
090106 Canca la Reyna
090107 El Higüerito
090108 Monte de la Jagua
090109 La Ortega
090200 Cayetano Germosén
090201 Cayetano Germosén
090300 Gaspar Hernández
090301 Gaspar Hernández
090302 Joba Arriba
090303 Veragua
090304 Villa Magante
090400 Jamao al Norte
090401 Jamao al Norte
100000 Independencia
100100 Jimaní
100101 Jimaní
100102 El Limón
100103 Boca de Cachón
100200 Duvergé
100201 Duvergé
100202 Vengan A Ver
100300 La Descubierta
100301 La Descubierta
100400 Postrer Río
100401 Postrer Río
100402 Guayabal
100500 Cristóbal
100501 Cristóbal
100502 Batey 8
100600 Mella
100601 Mella
100602 La Colonia
110000 La Altagracia
110100 Higüey
110101 Higüey
110102 Las Lagunas de Nisibón
110103 La Otra Banda
110104 Verón Punta Cana
110200 San Rafael del Yuma
110201 San Rafael del Yuma
110202 Boca de Yuma
110203 Bayahíbe
120000 La Romana
120100 La Romana
120101 La Romana
120102 Caleta
120200 Guaymate
120201 Guaymate
120300 Villa Hermosa
120301 Villa Hermosa
120302 Cumayasa
130000 La Vega
130100 La Vega
130101 La Vega
130102 Río Verde Arriba
130103 El Ranchito
130104 Taveras
130105 Don Juan Rodríguez
130200 Constanza
130201 Constanza
130202 Tireo
130203 La Sabina
130300 Jarabacoa
130301 Jarabacoa
130302 Buena Vista
130303 Manabao
130400 Jima Abajo
130401 Jima Abajo
130402 Rincón
140000 María Trinidad Sánchez
140100 Nagua
140101 Nagua
140102 San José de Matanzas
140103 Las Gordas
140104 Arroyo al Medio
140200 Cabrera
140201 Cabrera
140202 Arroyo Salado
140203 La Entrada
140300 El Factor
140301 El Factor
140302 El Pozo
140400 Río San Juan
140401 Río San Juan
150000 Monte Cristi
150100 Monte Cristi
150101 Monte Cristi
150200 Castañuelas
150201 Castañuelas
150202 Palo Verde
150300 Guayubín
150301 Guayubín
150302 Villa Elisa
150303 Hatillo Palma
150304 Cana Chapetón
150400 Las Matas de Santa Cruz
150401 Las Matas de Santa Cruz
150500 Pepillo Salcedo
150501 Pepillo Salcedo (Manzanillo)
150502 Santa María
150600 Villa Vásquez
150601 Villa Vásquez
160000 Pedernales
160100 Pedernales
160101 Pedernales
160102 José Francisco Peña Gómez
160200 Oviedo
160201 Oviedo
160202 Juancho
170000 Peravia
170100 Baní
170101 Baní
170102 Matanzas
170103 Villa Fundación
170104 Sabana Buey
170105 Paya
170106 Villa Sombrero
170107 El Carretón
170108 Catalina
170109 El Limonal
170110 Las Barías
170200 Nizao
170201 Nizao
170202 Pizarrete
170203 Santana
170300 Matanzas
170301 Matanzas
180000 Puerto Plata
180100 Puerto Plata
180101 Puerto Plata
180102 Yásica Arriba
180103 Maimón
180200 Altamira
180201 Altamira
180202 Río Grande
180300 Guananico
180301 Guananico
180400 Imbert
180401 Imbert
180500 Los Hidalgos
180501 Los Hidalgos
180502 Navas
180600 Luperón
180601 Luperón
180602 La Isabela
180603 Belloso
180604 El Estrecho de Luperón Omar Bross
180700 Sosúa
180701 Sosúa
180702 Cabarete
180703 Sabaneta de Yásica
180800 Villa Isabela
180801 Villa Isabela
180802 Estero Hondo
180803 La Jaiba
180804 Gualete
180900 Villa Montellano
180901 Villa Montellano
190000 Hermanas Mirabal
190100 Salcedo
190101 Salcedo
190102 Jamao Afuera
190200 Tenares
190201 Tenares
190202 Blanco
190300 Villa Tapia
190301 Villa Tapia
200000 Samaná
200100 Samaná
200101 Samaná
200102 El Limón
200103 Arroyo Barril
200104 Las Galeras
200200 Sánchez
200201 Sánchez
200300 Las Terrenas
200301 Las Terrenas
210000 San Cristóbal
210100 San Cristóbal
210101 San Cristóbal
210102 Hato Damas
210103 Hatillo
210200 Sabana Grande de Palenque
210201 Sabana Grande de Palenque
210300 Bajos de Haina
210301 Bajos de Haina
210302 El Carril
210303 Quita Sueño
210400 Cambita Garabitos
210401 Cambita Garabitos
210402 Cambita el Pueblecito
210500 Villa Altagracia
210501 Villa Altagracia
210502 San José del Puerto
210503 Medina
210504 La Cuchilla
210600 Yaguate
210601 Yaguate
210602 Doña Ana
210700 San Gregorio de Nigua
210701 San Gregorio de Nigua
210800 Los Cacaos
210801 Los Cacaos
220000 San Juan
220100 San Juan
220101 San Juan
220102 Pedro Corto
220103 Sabaneta
220104 Sabana Alta
220105 El Rosario
220106 Hato del Padre
220107 Guanito
220108 La Jagua
220109 Las Maguanas-Hato Nuevo
220110 Las Charcas de María Nova
220111 Las Zanjas
220200 Bohechío
220201 Bohechío
220202 Arroyo Cano
220203 Yaque
220300 El Cercado
220301 El Cercado
220302 Derrumbadero
220303 Batista
220400 Juan de Herrera
220401 Juan de Herrera
220402 Jínova
220500 Las Matas de Farfán
220501 Las Matas de Farfán
220502 Matayaya
220503 Carrera de Yeguas
220600 Vallejuelo
220601 Vallejuelo
220602 Jorjillo
230000 San Pedro de Macorís
230100 San Pedro de Macorís
230101 San Pedro de Macorís
230200 Los Llanos
230201 Los Llanos
230202 El Puerto
230203 Gautier
230300 Ramón Santana
230301 Ramón Santana
230400 Consuelo
230401 Consuelo
230500 Quisqueya
230501 Quisqueya
230600 Guayacanes
230601 Guayacanes
240000 Sánchez Ramírez
240100 Cotuí
240101 Cotuí
240102 Quita Sueño
240103 Caballero
240104 Comedero Arriba
240105 Platanal
240106 Zambrana Abajo
240200 Cevicos
240201 Cevicos
240202 La Cueva
240300 Fantino
240301 Fantino
240400 La Mata
240401 La Mata
240402 La Bija
240403 Angelina
240404 Hernando Alonzo
250000 Santiago
250100 Santiago
250101 Santiago
250102 Pedro García
250104 Baitoa
250105 La Canela
250106 San Francisco de Jacagua
250107 Hato del Yaque
250200 Bisonó
250201 Villa Bisonó (Navarrete)
250300 Jánico
250301 Jánico
250302 Juncalito
250303 El Caimito
250400 Licey al Medio
250401 Licey al Medio
250402 Las Palomas
250500 San José de las Matas
250501 San José de las Matas
250502 El Rubio
250503 La Cuesta
250504 Las Placetas
250600 Tamboril
250601 Tamboril
250602 Canca la Piedra
250700 Villa González
250701 Villa González
250702 Palmar Arriba
250703 El Limón
250800 Puñal
250801 Puñal
250802 Guayabal
250803 Canabacoa
250900 Sabana Iglesia
250901 Sabana Iglesia
251000 Baitoa
251001 Baitoa
260000 Santiago Rodríguez
260100 San Ignacio de Sabaneta
260101 San Ignacio de Sabaneta
260200 Villa los Almácigos
260201 Villa los Almácigos
260300 Monción
260301 Monción
270000 Valverde
270100 Mao
270101 Mao
270102 Amina
270103 Jaibón (Pueblo Nuevo)
270104 Guatapanal
270200 Esperanza
270201 Esperanza
270202 Maizal
270203 Jicomé
270204 Boca de Mao
270205 Paradero
270300 Laguna Salada
270301 Laguna Salada
270302 Jaibón
270303 La Caya
270304 Cruce de Guayacanes
280000 Monseñor Nouel
280100 Bonao
280101 Bonao
280102 Sabana del Puerto
280103 Juma Bejucal
280104 Arroyo Toro - Masipedro
280105 Jayaco
280106 La Salvia - Los Quemados
280200 Maimón
280201 Maimón
280300 Piedra Blanca
280301 Piedra Blanca
280302 Villa de Sonador
280303 Juan Adrián
290000 Monte Plata
290100 Monte Plata
290101 Monte Plata
290102 Don Juan
290103 Chirino
290104 Boyá
290200 Bayaguana
290201 Bayaguana
290300 Sabana Grande de Boyá
290301 Sabana Grande de Boyá
290302 Gonzalo
290303 Majagual
290400 Yamasá
290402 Los Botados
290403 Mamá Tingó
290500 Peralvillo
290501 Peralvillo
300000 Hato Mayor
300100 Hato Mayor
300101 Hato Mayor
300102 Yerba Buena
300103 Mata Palacio
300104 Guayabo Dulce
300200 Sabana de la Mar
300201 Sabana de la Mar
300202 Elupina Cordero de las Cañitas
300300 El Valle
300301 El Valle
310000 San José de Ocoa
310100 San José de Ocoa
310101 San José de Ocoa
310102 La Ciénaga
310103 Nizao - Las Auyamas
310104 El Pinar
310105 El Naranjal
310200 Sabana Larga
310201 Sabana Larga
310300 Rancho Arriba
310301 Rancho Arriba
320000 Santo Domingo
320100 Santo Domingo Este
320101 Santo Domingo Este
320102 San Luis
320200 Santo Domingo Oeste
320201 Santo Domingo Oeste
320300 Santo Domingo Norte
320301 Santo Domingo Norte
320302 La Victoria
320400 Boca Chica
320401 Boca Chica
320402 La Caleta
320500 San Antonio de Guerra
320501 San Antonio de Guerra
320502 Hato Viejo
320600 Los Alcarrizos
320601 Los Alcarrizos
320602 Palmarejo-Villa Linda
320603 Pantoja
320700 Pedro Brand
320701 Pedro Brand
320702 La Guáyiga
320703 La Cuaba
`
    .trim()
    .split('\n')
    .map((line) => [line.slice(0, 6), line.slice(7)]),
);
